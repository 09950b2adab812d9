import type { ComponentProps } from "react";
import { Link } from "react-router";
import { Composer } from "../composer/composer.tsx";
import { NotifyForm, StopForm } from "../reply/reply-button.tsx";
import type { ReplyNotice } from "../reply-notice.server.ts";

type Props = Omit<ComponentProps<typeof Composer>, "placeholder" | "edits"> & {
  chatId: string;
  /** The last reply shown. */
  lastReply: string | undefined;
  temporary: boolean;
  notice: ReplyNotice | undefined;
  edits: { messageId: string; parentId: string } | undefined;
  /** The last message sent. A new one empties the composer; a reply that ends does not touch what is being typed. */
  lastSent: string | undefined;
};

/** Below the turns: what there is to say about the conversation, and its composer. */
export function ChatFoot({ lastReply, temporary, notice, edits, lastSent, ...composer }: Props) {
  const { chatId, growing } = composer;
  return (
    <div className="foot">
      {/* Skip links: in a long conversation, the menu and the last reply are hundreds of Tab stops from the composer. */}
      <p className="skips">
        <a className="skip" href="#menu">
          Menú
        </a>
        {lastReply && (
          <a className="skip" href={`#m-${lastReply}`}>
            Última respuesta
          </a>
        )}
      </p>
      {growing && <StopForm messageId={growing} />}
      {growing && notice && <NotifyForm messageId={growing} {...notice} />}
      {temporary && <p className="editing">Temporal: se borra al cerrar esta sesión, y no se busca.</p>}
      {edits && (
        <p className="editing">
          Al enviarlo se crea otra versión.
          <Link to={`/conversation/chat/${chatId}`}>Cancelar</Link>
        </p>
      )}
      <Composer
        key={`${edits?.messageId} ${lastSent}`}
        {...composer}
        edits={edits !== undefined}
        parentId={edits?.parentId ?? composer.parentId}
        placeholder="Escribe un mensaje"
      />
    </div>
  );
}
