import { Link } from "react-router";
import { Icon } from "../../ui/icon.tsx";
import { CopyLink } from "./copy.tsx";
import { LiveReply } from "./live-reply.tsx";
import { ReplyButton } from "./reply-button.tsx";
import type { ShownTurn } from "./turns.server.ts";

type Props = { chatId: string; turn: ShownTurn; marker: string | undefined };

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
        <Versions chatId={chatId} turn={turn} label="Versiones del mensaje" />
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
  const { status, html, error } = turn;
  return (
    <>
      <h2>{turn.name}</h2>
      {html && (
        // Safe: made by our own renderer, with raw HTML off.
        <div className="prose" dir="auto" dangerouslySetInnerHTML={{ __html: html }} />
      )}
      <Outcome {...{ status, html, error, messageId: turn.id, parentId: turn.parentId }} />
      {turn.sources.length > 0 && <Sources turn={turn} />}
      <div className="actions">
        {html && <CopyLink messageId={turn.id} />}
        <ReplyButton messageId={turn.parentId ?? ""} intent="again" icon="refresh">
          Regenerar
        </ReplyButton>
        <Versions chatId={chatId} turn={turn} label="Versiones de la respuesta" />
      </div>
    </>
  );
}

type OutcomeProps = Pick<ShownTurn, "status" | "html" | "error" | "parentId"> & { messageId: string };

/** How a reply ended, where that needs words, and how to go on. */
function Outcome({ status, html, error, messageId, parentId }: OutcomeProps) {
  const canContinue = Boolean(html) && (status === "interrupted" || status === "failed" || (status === "complete" && error));
  const sentence =
    status === "interrupted" ? "La respuesta quedó interrumpida: el servidor se cerró mientras la escribía." : error;
  if (!sentence) return null;
  return (
    <div className={`outcome ${status === "failed" ? "bad" : ""}`}>
      <Icon name={status === "failed" ? "alert" : "info"} />
      <p>{sentence}</p>
      <div className="buttons">
        {canContinue && (
          <ReplyButton messageId={messageId} intent="again" look="button small">
            Continuar
          </ReplyButton>
        )}
        {(status === "failed" || !html) && (
          <ReplyButton messageId={parentId ?? ""} intent="again" look="button small" icon="refresh">
            Reintentar
          </ReplyButton>
        )}
      </div>
    </div>
  );
}

function Sources({ turn }: Pick<Props, "turn">) {
  return (
    <aside className="sources" aria-labelledby={`fuentes-${turn.id}`}>
      <h3 id={`fuentes-${turn.id}`}>Fuentes</h3>
      <ol>
        {turn.sources.map(({ n, title, chatId, messageId }) => (
          <li key={n} id={`fuente-${turn.id}-${n}`}>
            {chatId ? <Link to={`/conversation/chat/${chatId}?version=${messageId}#m-${messageId}`}>{title}</Link> : title}
          </li>
        ))}
      </ol>
    </aside>
  );
}

function Versions({ chatId, turn, label }: { chatId: string; turn: ShownTurn; label: string }) {
  if (turn.versions < 2) return null;
  return (
    <nav className="stepper" aria-label={label}>
      <Step chatId={chatId} to={turn.previous} icon="previous" label="Versión anterior" />
      <span>
        {turn.version}/{turn.versions}
      </span>
      <Step chatId={chatId} to={turn.next} icon="next" label="Versión siguiente" />
    </nav>
  );
}

function Step({ chatId, to, icon, label }: { chatId: string; to: string | undefined; icon: string; label: string }) {
  if (!to) return null;
  return (
    <Link className="action" to={`/conversation/chat/${chatId}?version=${to}`} preventScrollReset>
      <Icon name={icon} label={label} />
    </Link>
  );
}
