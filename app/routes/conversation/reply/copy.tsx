import { type MouseEvent, useState } from "react";
import { Icon } from "../../../ui/icon.tsx";

/** Copies a message; without a script it opens its plain text. */
export function CopyLink({ messageId }: { messageId: string }) {
  const [copied, setCopied] = useState(false);
  const href = `/conversation/text/${messageId}`;
  const copy = async (event: MouseEvent) => {
    // Only secure pages have a clipboard; elsewhere the plain text opens.
    if (!navigator.clipboard) return;
    event.preventDefault();
    const response = await fetch(href);
    if (!response.ok) return window.location.assign(href);
    await navigator.clipboard.writeText(await response.text());
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <a className="action" href={href} onClick={copy}>
      <Icon name={copied ? "check" : "copy"} />
      <span role="status">{copied ? "Copiado" : "Copiar"}</span>
    </a>
  );
}
