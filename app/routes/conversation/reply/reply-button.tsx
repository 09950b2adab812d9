import type { ReactNode } from "react";
import { FormTokenField } from "../../../ui/forms/post-form.tsx";
import { Icon, type IconName } from "../../../ui/icon.tsx";
import type { AskedNotice } from "../reply-notice.server.ts";

type Props = {
  /** The message that gets another reply, or the cut reply that is continued. */
  messageId: string;
  look?: string;
  icon?: IconName;
  children: ReactNode;
};

/** The form of the composer's button «Detener». It is outside of the composer's form, since forms cannot be nested. */
export function StopForm({ messageId }: { messageId: string }) {
  return (
    <form id="detener" method="post" action={`/conversation/reply/${messageId}`} data-reply-form>
      <FormTokenField />
      <input type="hidden" name="intent" value="stop" />
    </form>
  );
}

/** «Avísame cuando esté», beside a reply that is being written. */
export function NotifyForm({ messageId, by, asked }: { messageId: string } & AskedNotice) {
  if (asked) {
    return (
      <p className="notify hint">
        {by === "mail" ? "Te llegará un correo cuando esté." : "Te llegará un aviso cuando esté."}
      </p>
    );
  }
  return (
    <form className="notify" method="post" action={`/conversation/reply/${messageId}`} data-reply-form>
      <FormTokenField />
      <input type="hidden" name="intent" value="notify" />
      <button type="submit" className="action">
        <Icon name="mail" />
        {by === "mail" ? "Avísame por correo cuando esté" : "Avísame cuando esté"}
      </button>
    </form>
  );
}

/** A form of one button about a reply. It is plain, as it is also written into pages that no router renders; the chat submits it. */
export function ReplyButton({ messageId, look = "action", icon, children }: Props) {
  return (
    <form method="post" action={`/conversation/reply/${messageId}`} data-reply-form>
      <FormTokenField />
      <input type="hidden" name="intent" value="again" />
      <button type="submit" className={look}>
        {icon && <Icon name={icon} />}
        {children}
      </button>
    </form>
  );
}
