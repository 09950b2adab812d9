import { Link } from "react-router";
import { Icon, type IconName } from "../../../ui/icon.tsx";
import type { ShownTurn } from "./turns.server.ts";

export type VersionsOf = Pick<ShownTurn, "version" | "versions" | "previous" | "next">;

type Props = {
  chatId: string;
  turn: VersionsOf;
  label: string;
  /** Question whose replies are the versions, where they can be seen side by side. */
  compared?: string | null | undefined;
};

/** Steps between the versions of a message or reply, as plain links. */
export function Versions({ chatId, turn, label, compared }: Props) {
  if (turn.versions < 2) return null;
  return (
    <nav className="stepper" aria-label={label}>
      <Step chatId={chatId} to={turn.previous} icon="previous" label="Versión anterior" />
      <span>{`${turn.version}/${turn.versions}`}</span>
      <Step chatId={chatId} to={turn.next} icon="next" label="Versión siguiente" />
      {compared && (
        <a className="action" href={`/conversation/chat/${chatId}/comparar/${compared}`}>
          <span className="text">Comparar</span>
        </a>
      )}
    </nav>
  );
}

function Step({ chatId, to, icon, label }: { chatId: string; to: string | undefined; icon: IconName; label: string }) {
  if (!to) return null;
  return (
    <Link className="action" to={`/conversation/chat/${chatId}?version=${to}`} data-still>
      <Icon name={icon} label={label} />
    </Link>
  );
}
