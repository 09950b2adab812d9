import type { showUse } from "../../web/plan-use-in-words.server.ts";

export type Meter = ReturnType<typeof showUse>["meters"][number];

/** How much of a plan's limits is used; a use without a limit is a figure only. */
export function Meters({ meters }: { meters: Meter[] }) {
  return (
    <dl className="use">
      {meters.map(({ name, used, limit, said, resets }) => (
        <div key={name}>
          <dt>{name}</dt> <dd>{said}</dd>
          {limit !== null && (
            <dd className="bar-of">
              <meter
                min={0}
                max={limit}
                low={limit * 0.8}
                high={limit * 0.95}
                optimum={0}
                value={Math.min(used, limit)}
                aria-label={name}
              >
                {said}
              </meter>
              <span>{resets}</span>
            </dd>
          )}
        </div>
      ))}
    </dl>
  );
}
