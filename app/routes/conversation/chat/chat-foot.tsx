import { type ComponentProps, Suspense, useState } from "react";
import { useLocation, useNavigation } from "react-router";
import { lazily } from "../../../ui/lazily.ts";
import type { AboveProps } from "../composer/above.tsx";
import { Composer } from "../composer/composer.tsx";
import { NotifyForm, StopForm } from "../reply/reply-button.tsx";
import type { AskedNotice } from "../reply-notice.server.ts";

type Props = Omit<ComponentProps<typeof Composer>, "placeholder" | "edits"> & {
  chatId: string;
  /** The last reply shown. */
  lastReply: string | undefined;
  temporary: boolean;
  notice: AskedNotice | undefined;
  edits: { messageId: string; parentId: string } | undefined;
  queued: AboveProps["queued"];
};

const Above = lazily(() => import("../composer/above.tsx"));

/** The part below the turns: notes about the conversation, and its composer. */
export function ChatFoot({ lastReply, temporary, notice, edits, queued, ...composer }: Props) {
  const { chatId, growing, result } = composer;
  const sent = useSent(`/conversation/chat/${chatId}`, result !== undefined);
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
      {(temporary || edits || queued) && (
        <Suspense>
          <Above chatId={chatId} temporary={temporary} edits={edits !== undefined} queued={queued} />
        </Suspense>
      )}
      <Composer
        key={`${chatId} ${edits?.messageId} ${sent}`}
        {...composer}
        edits={edits !== undefined}
        parentId={edits?.parentId ?? composer.parentId}
        placeholder="Escribe un mensaje"
      />
    </div>
  );
}

/** Counts the messages that this page has sent. Each sent message empties the composer; nothing else changes the typed text. */
function useSent(page: string, isRefused: boolean): number {
  const { formData, formAction } = useNavigation();
  const isSending = formAction === page && formData?.has("content") === true;
  const place = useLocation().key;
  const [{ count, from }, setSent] = useState({ count: 0, from: "" });
  // A sent message ends in a redirect, which is another history entry; a navigation that was broken off leaves the text alone.
  if (isSending && !from) setSent({ count, from: place });
  if (!isSending && from) setSent({ count: from === place || isRefused ? count : count + 1, from: "" });
  return count;
}
