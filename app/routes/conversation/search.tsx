import { Link } from "react-router";

export type FoundByWords = {
  q: string;
  chats: { id: string; title: string; when: string }[];
  messages: {
    id: string;
    chatId: string;
    title: string;
    who: string;
    when: string;
    excerpt: ShownExcerpt;
  }[];
  files: { name: string; to: string; when: string; excerpt: ShownExcerpt }[];
};
type ShownExcerpt = { text: string; hit: boolean }[];

/** Results of a search: chats, messages and files. */
export function SearchResults({ found: { q, chats, messages, files } }: { found: FoundByWords }) {
  const count = chats.length + messages.length + files.length;
  return (
    <>
      <p className="mt-4 text-text-2" role="status">
        {count === 0 ? `Nada contiene «${q}»` : `${count} ${count === 1 ? "resultado" : "resultados"} de «${q}»`} en los
        títulos, los mensajes y los documentos de todas tus conversaciones.{" "}
        <Link to="/conversation/chat">Quitar la búsqueda</Link>
      </p>
      {count > 0 && (
        <ul className="rows mt-4">
          {chats.map(({ id, title, when }) => (
            <li key={id} className="row">
              <div>
                <Link className="title clip" to={`/conversation/chat/${id}`} data-ahead>
                  {title}
                </Link>
                <p className="line">Conversación</p>
              </div>{" "}
              <span className="end">{when}</span>
            </li>
          ))}
          {messages.map(({ id, chatId, title, who, when, excerpt }) => (
            <li key={id} className="row">
              <div>
                <Link className="title clip" to={`/conversation/chat/${chatId}?mensaje=${id}#m-${id}`}>
                  {title}
                </Link>
                <p className="line">
                  {who}: <Marked excerpt={excerpt} />
                </p>
              </div>{" "}
              <span className="end">{when}</span>
            </li>
          ))}
          {files.map(({ name, to, when, excerpt }) => (
            <li key={to} className="row">
              <div>
                <Link className="title clip" to={to}>
                  {name}
                </Link>
                <p className="line">
                  Documento: <Marked excerpt={excerpt} />
                </p>
              </div>{" "}
              <span className="end">{when}</span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

const Marked = ({ excerpt }: { excerpt: ShownExcerpt }) =>
  excerpt.map(({ text, hit }, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text, which never change places
    hit ? <mark key={index}>{text}</mark> : text,
  );
