import { FormTokenField } from "../../../ui/forms/post-form.tsx";
import { Icon } from "../../../ui/icon.tsx";
import { cut } from "../reply/reply-end.tsx";

type Props = {
  id: string;
  questionId: string | null;
  status: string;
  error: string | null;
  sources: { n: number; title: string; quote: string }[];
  /** Address of the room; undefined where the reply is only read. */
  at: string | undefined;
};

/** Foot of a reply in a room: how it ended, its sources, and a button to ask again if the reply was not completed. */
export function RoomReplyEnd({ id, questionId, status, error, sources, at }: Props) {
  const sentence = cut[status] ?? error;
  return (
    <>
      {sentence && (
        <div className={`outcome ${status === "failed" ? "bad" : ""}`}>
          <Icon name={status === "failed" ? "alert" : "info"} />
          <p>{sentence}</p>
          {at && questionId && status !== "complete" && (
            <form method="post" action={at}>
              <FormTokenField />
              <input type="hidden" name="messageId" value={questionId} />
              <button type="submit" className="button small" name="does" value="again">
                Reintentar
              </button>
            </form>
          )}
        </div>
      )}
      {sources.length > 0 && (
        <aside className="sources" aria-labelledby={`fuentes-${id}`}>
          <h3 id={`fuentes-${id}`}>Fuentes</h3>
          <ol>
            {sources.map(({ n, title, quote }) => (
              <li key={n} id={`fuente-${id}-${n}`} value={n}>
                <details>
                  <summary>{title}</summary>
                  <p>{quote}</p>
                </details>
              </li>
            ))}
          </ol>
        </aside>
      )}
    </>
  );
}
