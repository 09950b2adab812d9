import { Link } from "react-router";

type Props = { id: string; title: string; extract: string; author?: string | undefined; when: string };

/** A conversation in a list: its title, whose it is if it is another's, how its last message begins, when that was. */
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
