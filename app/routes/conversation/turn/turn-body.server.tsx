import { Fragment } from "react";
import { Link } from "react-router";
import { v7 as newId } from "uuid";
import { digitalSource } from "../../../process/text/digital-source.ts";
import { AttachedFile } from "../../../ui/forms/attached-file.tsx";
import { FormToken } from "../../../ui/forms/post-form.tsx";
import { Icon } from "../../../ui/icon.tsx";
import { Light } from "../../../ui/light/light.ts";
import { type Context, lightContext, sessionContext } from "../../../web/context.ts";
import { ReplyEnd } from "../reply/reply-end.tsx";
import { ReplyParts } from "../reply/reply-parts.tsx";
import { renderPart } from "../stream/render-part.server.tsx";
import type { ShownTurn } from "./turns.server.ts";
import { Versions } from "./versions.tsx";

/**
 * A turn as the browser gets it. `source`: IPTC's term for what a model has made. `html`: the content of the turn's article; for a reply
 * that is being written, only the part above its text.
 */
export type RenderedTurn = Pick<ShownTurn, "id" | "role" | "status"> & { source: string | undefined; html: string };

/** Content of the articles of these turns, as HTML that the browser only has to show. */
export function withBodies(context: Context, chatId: string, turns: ShownTurn[]): RenderedTurn[] {
  // The turns are rendered together, since each rendering has a cost of its own, and then cut apart at an id that nobody can know.
  const cut = newId();
  const html = renderPart(
    <Light value={context.get(lightContext)}>
      <FormToken value={context.get(sessionContext).formToken}>
        {turns.map((turn) => (
          <Fragment key={turn.id}>
            <TurnBody chatId={chatId} turn={turn} />
            {cut}
          </Fragment>
        ))}
      </FormToken>
    </Light>,
  ).split(cut);
  return turns.map(({ id, role, status }, n) => {
    const source = role === "assistant" ? digitalSource.generated : undefined;
    return { id, role, status, source, html: html[n] ?? "" };
  });
}

type Props = { chatId: string; turn: ShownTurn };

function TurnBody({ chatId, turn }: Props) {
  return (
    <>
      {turn.role === "user" ? <Said chatId={chatId} turn={turn} /> : <Reply chatId={chatId} turn={turn} />}
      {turn.summary && <Summary text={turn.summary} />}
    </>
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

function Reply({ chatId, turn }: Props) {
  return (
    <>
      <h2>{turn.name}</h2>
      <Unseen name={turn.name} images={turn.unseen} />
      {turn.status !== "streaming" && (
        <>
          <ReplyParts parts={turn.parts} />
          <ReplyEnd chatId={chatId} turn={turn} />
        </>
      )}
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

/** Which images the model of a reply has not been given. */
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
