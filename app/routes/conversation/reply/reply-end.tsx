import { Link } from "react-router";
import { Icon } from "../../../ui/icon.tsx";
import { Menu, MenuLink } from "../../../ui/overlays/menu.tsx";
import { CopyLink } from "./copy.tsx";
import { ReplyButton } from "./reply-button.tsx";
import type { ShownTurn } from "./turns.server.ts";
import { Versions, type VersionsOf } from "./versions.tsx";

export type EndedReply = VersionsOf &
  Pick<ShownTurn, "id" | "parentId" | "status" | "error" | "sources" | "others" | "written">;

/** What stands under a reply that has ended: how it ended, where it is from, what can be done with it. */
export function ReplyEnd({ chatId, turn }: { chatId: string; turn: EndedReply }) {
  return (
    <>
      <Outcome {...turn} />
      {turn.sources.length > 0 && <Sources turn={turn} />}
      <div className="actions">
        {turn.written && <CopyLink messageId={turn.id} />}
        {turn.parentId && (
          <ReplyButton messageId={turn.parentId} icon="refresh">
            Regenerar
          </ReplyButton>
        )}
        <MoreActions chatId={chatId} turn={turn} />
        <Versions chatId={chatId} turn={turn} label="Versiones de la respuesta" />
      </div>
    </>
  );
}

/** The less frequent actions, in a menu. */
function MoreActions({ chatId, turn }: { chatId: string; turn: EndedReply }) {
  const id = `mas-${turn.id}`;
  return (
    <Menu id={id} label="Más acciones" look="action">
      {turn.others && turn.parentId && (
        <MenuLink icon="assistant" to={`/conversation/chat/${chatId}/regenerar/${turn.id}`} preventScrollReset>
          Con otro modelo
        </MenuLink>
      )}
      <MenuLink icon="info" to={`/conversation/chat/${chatId}/enviado/${turn.id}`}>
        Qué se envió al modelo
      </MenuLink>
    </Menu>
  );
}

const cut: Record<string, string> = {
  stopped: "Detenida.",
  interrupted: "La respuesta quedó interrumpida: el servidor se cerró mientras la escribía.",
};

/** How a reply ended, where that needs words, and how to go on. */
function Outcome({ id, status, written, error, parentId }: EndedReply) {
  const canContinue = written && (status !== "complete" || error);
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
        {parentId && (status === "failed" || !written) && (
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
            <Link to={to}>{title}</Link>
          </li>
        ))}
      </ol>
    </aside>
  );
}
