import { Link } from "react-router";
import { Icon } from "../../../ui/icon.tsx";
import type { ShownTurn } from "./turns.server.ts";

export type VersionsOf = Pick<ShownTurn, "version" | "versions" | "previous" | "next">;

/** Steps between the versions of a message or reply, as plain links. */
export function Versions({ chatId, turn, label }: { chatId: string; turn: VersionsOf; label: string }) {
  if (turn.versions < 2) return null;
  return (
    <nav className="stepper" aria-label={label}>
      <Step chatId={chatId} to={turn.previous} icon="previous" label="Versión anterior" />
      <span>{`${turn.version}/${turn.versions}`}</span>
      <Step chatId={chatId} to={turn.next} icon="next" label="Versión siguiente" />
    </nav>
  );
}

function Step({ chatId, to, icon, label }: { chatId: string; to: string | undefined; icon: string; label: string }) {
  if (!to) return null;
  return (
    <Link className="action" to={`/conversation/chat/${chatId}?version=${to}`} data-still>
      <Icon name={icon} label={label} />
    </Link>
  );
}
