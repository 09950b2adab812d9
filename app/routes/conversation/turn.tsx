import { Link } from "react-router";
import { AttachedFile } from "../../ui/attached-file.tsx";
import { Icon } from "../../ui/icon.tsx";
import { LiveReply } from "./live-reply.tsx";
import { ReplyButton } from "./reply-button.tsx";
import { ReplyEnd } from "./reply-end.tsx";
import type { ShownTurn } from "./turns.server.ts";
import { Versions } from "./versions.tsx";

type Props = { chatId: string; turn: ShownTurn; marker: string | undefined; found?: boolean };

/** A message of the conversation, with what can be done with it. */
export function Turn(props: Props) {
  const { id, role, status } = props.turn;
  return (
    <article
      className="turn"
      id={`m-${id}`}
      data-message-id={id}
      data-role={role}
      data-status={status}
      // A navigation in the browser sets no :target.
      data-found={props.found || undefined}
      aria-busy={status === "streaming" || undefined}
    >
      {role === "user" ? <Said {...props} /> : <Reply {...props} />}
      {props.turn.summary && <Summary text={props.turn.summary} />}
    </article>
  );
}

function Said({ chatId, turn }: Props) {
  return (
    <>
      <h2 className="sr-only">Tú</h2>
      {turn.attachments.length > 0 && (
        <ul className="attached">
          {turn.attachments.map((file, index) => (
            <AttachedFile
              // biome-ignore lint/suspicious/noArrayIndexKey: they never change places, and deleted ones have no id
              key={index}
              file={file}
              content={file.id ? `/user/file/${file.id}/contenido` : undefined}
              text={file.id ? `/user/file/${file.id}` : undefined}
            />
          ))}
        </ul>
      )}
      <div className="said" dir="auto">
        {turn.text}
      </div>
      <div className="actions">
        <Versions chatId={chatId} turn={turn} label="Versiones de lo que escribiste" />
        <Link className="action" to={`/conversation/chat/${chatId}?version=${turn.id}&editar=${turn.id}`}>
          <Icon name="edit" />
          Editar mensaje
        </Link>
      </div>
    </>
  );
}

/** How much of the conversation the model has only as a summary from here on. */
function Summary({ text }: { text: string }) {
  return (
    <details className="summarised">
      <summary>Hasta aquí, el modelo tiene un resumen</summary>
      <p>{text}</p>
    </details>
  );
}

function Unseen({ name, images }: { name: string; images: string[] }) {
  if (images.length === 0) return null;
  const which = images.map((image) => `«${image}»`).join(", ");
  return (
    <p className="unseen">
      <Icon name="info" />
      {name} no puede ver imágenes: no ha recibido {which}.
    </p>
  );
}

function Reply({ chatId, turn, marker }: Props) {
  if (turn.status === "streaming") {
    return (
      <>
        <h2>{turn.name}</h2>
        <Unseen name={turn.name} images={turn.unseen} />
        {/* Before the text, so that it is there while the text still comes; shown below it. */}
        <div className="actions">
          <ReplyButton messageId={turn.id} intent="stop" icon="stop">
            Detener
          </ReplyButton>
        </div>
        <LiveReply key={turn.id} messageId={turn.id} marker={marker} />
      </>
    );
  }
  return (
    <>
      <h2>{turn.name}</h2>
      <Unseen name={turn.name} images={turn.unseen} />
      {turn.html && (
        // Safe: made by our own renderer, with raw HTML off.
        <div className="prose" dir="auto" dangerouslySetInnerHTML={{ __html: turn.html }} />
      )}
      <ReplyEnd chatId={chatId} turn={{ ...turn, written: turn.html !== "" }} />
    </>
  );
}
