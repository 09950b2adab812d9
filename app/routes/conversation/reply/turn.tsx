import { Link } from "react-router";
import { AttachedFile } from "../../../ui/forms/attached-file.tsx";
import { Icon } from "../../../ui/icon.tsx";
import { LiveReply } from "./live-reply.tsx";
import { ReplyEnd } from "./reply-end.tsx";
import { ReplyParts } from "./reply-parts.tsx";
import type { ShownTurn } from "./turns.server.ts";
import { Versions } from "./versions.tsx";

type Props = {
  chatId: string;
  turn: ShownTurn;
  marker: string | undefined;
  found?: boolean;
  /** Its text is being edited in the composer. */
  edited?: boolean;
};

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
      // Client-side navigation does not update :target, so CSS marks the search hit by this attribute.
      data-found={props.found || undefined}
      data-edited={props.edited || undefined}
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
      <h2 className={turn.author ? "author" : "sr-only"}>{turn.author ?? "Tú"}</h2>
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
      {turn.text && (
        <div className="said" dir="auto">
          {turn.text}
        </div>
      )}
      <div className="actions">
        <Versions chatId={chatId} turn={turn} label="Versiones de lo que escribiste" />
        {!turn.author && (
          <Link className="action" to={`/conversation/chat/${chatId}?version=${turn.id}&editar=${turn.id}`}>
            <Icon name="edit" />
            Editar mensaje
          </Link>
        )}
      </div>
    </>
  );
}

/** Marks the point up to which the model is sent a summary instead of the messages. */
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
        <LiveReply key={turn.id} messageId={turn.id} marker={marker} />
      </>
    );
  }
  return (
    <>
      <h2>{turn.name}</h2>
      <Unseen name={turn.name} images={turn.unseen} />
      <ReplyParts parts={turn.parts} />
      <ReplyEnd chatId={chatId} turn={turn} />
    </>
  );
}
