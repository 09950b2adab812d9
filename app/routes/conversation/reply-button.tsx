import type { ReactNode } from "react";
import { Icon } from "../../ui/icon.tsx";
import { FormTokenField } from "../../ui/post-form.tsx";

type Props = {
  messageId: string;
  /** stop: end this reply. again: another reply to this message, or, of a cut reply, its continuation. */
  intent: "stop" | "again";
  look?: string;
  icon?: string;
  children: ReactNode;
};

/** A form of one button about a reply. Plain, as it is also written into pages that no router renders; the chat submits it. */
export function ReplyButton({ messageId, intent, look = "action", icon, children }: Props) {
  return (
    <form method="post" action={`/conversation/reply/${messageId}`} data-reply-form>
      <FormTokenField />
      <input type="hidden" name="intent" value={intent} />
      <button type="submit" className={look}>
        {icon && <Icon name={icon} />}
        {children}
      </button>
    </form>
  );
}
