import { Link } from "react-router";

type Props = { id: string; title: string; extract: string; author?: string | undefined; when: string };

/** A conversation in a list: its title, its owner if that is somebody else, and the beginning and time of its last message. */
export function ChatRow({ id, title, extract, author, when }: Props) {
  return (
    <li className="row">
      <div>
        <Link className="title clip" to={`/conversation/chat/${id}`} data-ahead>
          {title}
        </Link>
        {(author || extract) && <p className="line clip">{[author, extract].filter(Boolean).join(": ")}</p>}
      </div>{" "}
      <span className="end">{when}</span>
    </li>
  );
}
