import { Icon } from "../../../ui/icon.tsx";
import { LiveReply } from "../reply/live-reply.tsx";
import type { RenderedTurn } from "./turn-body.server.tsx";

type Props = {
  turn: RenderedTurn;
  marker: string | undefined;
  found?: boolean;
  /** Its text is being edited in the composer. */
  edited?: boolean;
};

/**
 * A message of the conversation, with what can be done with it. It comes as HTML from the server, since nothing in it
 * changes by itself; only a reply that is being written is the browser's.
 */
export function Turn({ turn: { id, role, status, name, unseen, html }, marker, found, edited }: Props) {
  const attributes = {
    className: "turn",
    id: `m-${id}`,
    "data-message-id": id,
    "data-role": role,
    "data-status": status,
    // Client-side navigation does not update :target, so CSS marks the search hit by this attribute.
    "data-found": found || undefined,
    "data-edited": edited || undefined,
  };
  // Safe: made by our own components, and text of models by our own renderer, with raw HTML off.
  if (status !== "streaming") return <article {...attributes} dangerouslySetInnerHTML={{ __html: html }} />;
  return (
    <article {...attributes} aria-busy>
      <h2>{name}</h2>
      <Unseen name={name} images={unseen} />
      <LiveReply key={id} messageId={id} marker={marker} />
    </article>
  );
}

/** Which images the model of a reply has not been given. */
export function Unseen({ name, images }: { name: string; images: string[] }) {
  if (images.length === 0) return null;
  const which = images.map((image) => `«${image}»`).join(", ");
  return (
    <p className="unseen">
      <Icon name="info" />
      {name} no puede ver imágenes: no ha recibido {which}.
    </p>
  );
}
