import { Link } from "react-router";
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
    </article>
  );
}

function Said({ chatId, turn }: Props) {
  return (
    <>
      <h2 className="sr-only">Tú</h2>
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

function Reply({ chatId, turn, marker }: Props) {
  if (turn.status === "streaming") {
    return (
      <>
        <h2>{turn.name}</h2>
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
      {turn.html && (
        // Safe: made by our own renderer, with raw HTML off.
        <div className="prose" dir="auto" dangerouslySetInnerHTML={{ __html: turn.html }} />
      )}
      <ReplyEnd chatId={chatId} turn={{ ...turn, written: turn.html !== "" }} />
    </>
  );
}
