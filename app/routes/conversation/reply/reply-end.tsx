import { Link } from "react-router";
import { FormTokenField } from "../../../ui/forms/post-form.tsx";
import { Icon, type IconName } from "../../../ui/icon.tsx";
import { Menu, MenuLink } from "../../../ui/overlays/menu.tsx";
import type { ShownTurn } from "../turn/turns.server.ts";
import { Versions, type VersionsOf } from "../turn/versions.tsx";
import { CopyLink } from "./copy-link.tsx";
import { ReplyButton } from "./reply-button.tsx";

export type EndedReply = VersionsOf &
  Pick<
    ShownTurn,
    "id" | "parentId" | "status" | "error" | "sources" | "others" | "written" | "listens" | "useful" | "author"
  > & {
    /** Whether the reply has called tools: it can then be continued, even if nothing is written. */
    called: boolean;
  };

/** Foot of a reply that has ended: how it ended, where it is from, what can be done with it. */
export function ReplyEnd({ chatId, turn }: { chatId: string; turn: EndedReply }) {
  return (
    <>
      <Outcome {...turn} />
      {turn.sources.length > 0 && <Sources turn={turn} />}
      <div className="actions">
        <Versions
          chatId={chatId}
          turn={turn}
          label="Versiones de la respuesta"
          compared={turn.author ? null : turn.parentId}
        />
        {turn.written && <CopyLink messageId={turn.id} />}
        {turn.parentId && !turn.author && (
          <ReplyButton messageId={turn.parentId} icon="refresh">
            <span className="text">Regenerar</span>
          </ReplyButton>
        )}
        {turn.written && turn.useful !== undefined && <Opinion chatId={chatId} turn={turn} />}
        {!turn.author && <MoreActions chatId={chatId} turn={turn} />}
      </div>
    </>
  );
}

const read = "Lo verá quien administra, con tu pregunta y esta respuesta.";

/** Two buttons that keep the person's opinion at once, or take it back; the reason is asked afterwards. */
function Opinion({ chatId, turn: { id, useful } }: { chatId: string; turn: EndedReply }) {
  const action = `/conversation/chat/${chatId}/opinar/${id}`;
  const button = (value: boolean, icon: IconName, label: string) => (
    <button
      type="submit"
      className="action"
      name="useful"
      value={useful === value ? "none" : value ? "1" : "0"}
      aria-pressed={useful === value}
      title={read}
    >
      <Icon name={icon} label={label} />
    </button>
  );
  return (
    <>
      <form className="opinion" method="post" action={action} data-reply-form>
        <FormTokenField />
        {button(true, "good", "Útil")} {button(false, "bad", "No útil")}
      </form>
      {useful !== null && (
        <Link className="action why" to={action} data-still>
          ¿Por qué?
        </Link>
      )}
    </>
  );
}

/** The less frequent actions, in a menu. */
function MoreActions({ chatId, turn }: { chatId: string; turn: EndedReply }) {
  const id = `mas-${turn.id}`;
  return (
    <Menu id={id} label="Más acciones" look="action">
      {turn.others && turn.parentId && (
        <MenuLink icon="assistant" to={`/conversation/chat/${chatId}/regenerar/${turn.id}`} data-still>
          Con otro modelo
        </MenuLink>
      )}
      {turn.listens && turn.written && (
        <MenuLink icon="voice" to={`/conversation/chat/${chatId}/escuchar/${turn.id}`} data-still>
          Escuchar
        </MenuLink>
      )}
      {turn.written && (
        <MenuLink icon="download" to={`/conversation/chat/${chatId}/exportar?mensaje=${turn.id}`} data-still>
          Exportar
        </MenuLink>
      )}
      <MenuLink icon="info" to={`/conversation/chat/${chatId}/enviado/${turn.id}`}>
        Qué se envió al modelo
      </MenuLink>
    </Menu>
  );
}

/** Sentences of replies that were cut, by their status. */
export const cut: Record<string, string> = {
  stopped: "Detenida.",
  interrupted: "La respuesta quedó interrumpida: el servidor se cerró mientras la escribía.",
};

/** How a reply ended, where that needs words, and how to go on. */
function Outcome({ id, status, written, called, error, parentId, author }: EndedReply) {
  const canContinue = !author && (written || called) && (status !== "complete" || error);
  const sentence = status === "complete" || status === "failed" ? error : cut[status];
  if (!sentence) return null;
  return (
    <div className={`outcome ${status === "failed" ? "bad" : ""}`}>
      <Icon name={status === "failed" ? "alert" : "info"} />
      <p>{sentence}</p>
      <div className="buttons">
        {canContinue && (
          <ReplyButton messageId={id} look="button small">
            Continuar
          </ReplyButton>
        )}
        {parentId && !author && (status === "failed" || !written) && (
          <ReplyButton messageId={parentId} look="button small" icon="refresh">
            Reintentar
          </ReplyButton>
        )}
      </div>
    </div>
  );
}

function Sources({ turn }: { turn: EndedReply }) {
  return (
    <aside className="sources" aria-labelledby={`fuentes-${turn.id}`}>
      <h3 id={`fuentes-${turn.id}`}>Fuentes</h3>
      <ol>
        {turn.sources.map(({ n, title, to }) => (
          <li key={n} id={`fuente-${turn.id}-${n}`}>
            <SourceLink to={to}>{title}</SourceLink>
          </li>
        ))}
      </ol>
    </aside>
  );
}

/** Link to a source here, or to a page of the web, which is told no referrer; only words if there is nothing to open. */
function SourceLink({ to, children }: { to: string | undefined; children: string }) {
  if (to === undefined) return children;
  if (!/^https?:/.test(to)) return <Link to={to}>{children}</Link>;
  return (
    <a href={to} rel="noopener noreferrer nofollow">
      {children} ({URL.parse(to)?.hostname})
    </a>
  );
}
