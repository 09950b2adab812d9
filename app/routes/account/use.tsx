import { Meters } from "../../ui/figures/meters.tsx";
import { BarPlot, type Plot } from "../../ui/figures/plot.tsx";
import type { showUse } from "../../web/plan-use-in-words.server.ts";

/** The person's plan, how much of it is used, and the last thirty days. */
export function Use({ use, plot }: { use: ReturnType<typeof showUse>; plot: Plot }) {
  return (
    <div className="stack">
      <p className="plan">
        <strong>{use.plan}</strong> <span className="text-text-2">{use.since}</span>
      </p>
      <Meters meters={use.meters} />
      {plot.bars.some(({ values }) => values.some((value) => value > 0)) ? (
        <BarPlot plot={plot} title="Mensajes de los últimos 30 días" unit={["mensaje", "mensajes"]} />
      ) : (
        <p className="text-text-2">Aún no hay mensajes en estos 30 días.</p>
      )}
    </div>
  );
}
