import { Link } from "react-router";
import { Icon, type IconName } from "../../../ui/icon.tsx";

type QueuedProps = {
  content: string;
  /** Names of the message's files. */
  files: string[];
  problem: string | null;
  /** Whether a reply is being written; the message is sent by itself after the reply. */
  waits: boolean;
};

export type AboveProps = {
  chatId: string;
  temporary: boolean;
  /** An earlier message is being edited. */
  edits: boolean;
  queued: QueuedProps | null;
};

/** Above the composer: its exceptional states. Most conversations have none, so this part is loaded only when needed. */
export default function Above({ chatId, temporary, edits, queued }: AboveProps) {
  return (
    <>
      {temporary && <p className="editing">Temporal: se borra al cerrar esta sesión, y no se busca.</p>}
      {edits && (
        <p className="editing">
          Al enviarlo se crea otra versión.
          <Link to={`/conversation/chat/${chatId}`}>Cancelar</Link>
        </p>
      )}
      {queued && !edits && <Queued {...queued} />}
    </>
  );
}

/** The message that waits for the end of the reply. Its buttons send the composer's form, so that what is typed there stays. */
function Queued({ content, files, problem, waits }: QueuedProps) {
  const button = (value: string, icon: IconName, label: string) => (
    <button type="submit" className="action" form="composer" name="queued" value={value} formNoValidate>
      <Icon name={icon} />
      {label}
    </button>
  );
  return (
    <section className="queued" aria-labelledby="queued-title">
      <h2 id="queued-title">{waits ? "Después de esta" : "Sin enviar"}</h2>
      <p className="words" dir="auto">
        {content || files.join(", ")}
      </p>
      {content && files.length > 0 && <p className="hint">{files.join(", ")}</p>}
      {problem && <p className="hint">{problem}</p>}
      <div className="buttons">
        {!waits && button("send", "send", "Enviar ahora")}
        {button("edit", "edit", "Editar")}
        {button("remove", "close", "Quitar")}
      </div>
    </section>
  );
}
