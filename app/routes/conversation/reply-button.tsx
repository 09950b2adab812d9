import type { ReactNode } from "react";
import { useFetcher } from "react-router";
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

/** A form of one button about a reply; with a script it works without leaving the page. */
export function ReplyButton({ messageId, intent, look = "action", icon, children }: Props) {
  const fetcher = useFetcher();
  return (
    <fetcher.Form method="post" action={`/conversation/reply/${messageId}`}>
      <FormTokenField />
      <button type="submit" className={look} name="intent" value={intent}>
        {icon && <Icon name={icon} />}
        {children}
      </button>
    </fetcher.Form>
  );
}
