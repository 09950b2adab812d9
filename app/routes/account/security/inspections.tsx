import { Link } from "react-router";
import type { inspectionsInWords } from "./inspections.server.ts";

/** The reads of a person's things: by whom, when and what for. */
export function Inspections({ rule, items, older }: ReturnType<typeof inspectionsInWords>) {
  return (
    <div className="stack">
      <p className="text-text-2">{rule}</p>
      {items.length === 0 ? (
        <p>Nadie ha leído nada tuyo.</p>
      ) : (
        <ul className="rows">
          {items.map(({ id, who, what, when, purpose }) => (
            <li key={id} className="py-4">
              <p dir="auto">{what}</p>
              <p className="text-text-2">
                {who}, {when}
              </p>
              {purpose && <p dir="auto">Para qué: {purpose}</p>}
            </li>
          ))}
        </ul>
      )}
      {older && (
        <p>
          <Link to={older}>Las anteriores</Link>
        </p>
      )}
    </div>
  );
}
