import { BarPlot, type Plot } from "../../ui/plot.tsx";
import type { showUse } from "./use.server.ts";

export type Meter = ReturnType<typeof showUse>["meters"][number];

/** How much of a plan's limits is used; what has none is a figure only. */
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

/** The person's plan, how much of it is used, and the last thirty days. */
export function Use({ use, plot }: { use: ReturnType<typeof showUse>; plot: Plot }) {
  return (
    <div className="stack">
      <p className="plan">
        <strong>{use.plan}</strong> <span className="text-text-2">{use.since}</span>
      </p>
      <Meters meters={use.meters} />
      {plot.bars.some(({ value }) => value > 0) ? (
        <BarPlot plot={plot} title="Mensajes de los últimos 30 días" unit={["mensaje", "mensajes"]} />
      ) : (
        <p className="text-text-2">Aún no hay mensajes en estos 30 días.</p>
      )}
    </div>
  );
}
