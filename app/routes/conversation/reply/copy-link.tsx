import { Icon } from "../../../ui/icon.tsx";

/** Opens the plain text of a message; with a script it is copied instead (`turn/use-links.ts`). */
export const CopyLink = ({ messageId }: { messageId: string }) => (
  <a className="action" href={`/conversation/text/${messageId}`} data-copy>
    <Icon name="copy" />
    <span className="text" aria-live="polite">
      Copiar
    </span>
  </a>
);
