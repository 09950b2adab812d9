import { Link } from "react-router";

/** A conversation in a list: its title, how its last message begins, when that was. */
export function ChatRow({ id, title, extract, when }: { id: string; title: string; extract: string; when: string }) {
  return (
    <li className="row">
      <div>
        <Link className="title clip" to={`/conversation/chat/${id}`} data-ahead>
          {title}
        </Link>
        {extract && <p className="line clip">{extract}</p>}
      </div>{" "}
      <span className="end">{when}</span>
    </li>
  );
}
