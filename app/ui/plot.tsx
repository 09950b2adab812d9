import { useId } from "react";
import { Icon } from "./icon.tsx";

type Bar = {
  label: string;
  value: number;
  hit: number;
  step: number;
  x: number;
  y: number;
  width: number;
  height: number;
};

export type Plot = {
  width: number;
  height: number;
  bars: Bar[];
  grid: number[];
  yLabels: string[];
  xLabels: string[];
};

/** A plot of days as bars, laid out by the server; its figures stand under «Ver datos» as well. */
export function BarPlot({ plot, title, unit }: { plot: Plot; title: string; unit: [one: string, many: string] }) {
  const id = useId();
  const shown = (value: number) => value.toLocaleString("es", { maximumFractionDigits: 4 });
  const said = (value: number) => `${shown(value)} ${value === 1 ? unit[0] : unit[1]}`;
  const values = plot.bars.map(({ value }) => value);
  return (
    <div>
      <h3 className="plot-title">{title}</h3>
      <figure className="plot">
        <span className="y" aria-hidden="true">
          {plot.yLabels.map((label) => (
            <span key={label}>{label}</span>
          ))}
        </span>
        <svg
          viewBox={`0 0 ${plot.width} ${plot.height}`}
          preserveAspectRatio="none"
          role="img"
          aria-labelledby={`${id}t ${id}d`}
        >
          <title id={`${id}t`}>{title}</title>
          <desc id={`${id}d`}>{`Entre ${shown(Math.min(...values))} y ${said(Math.max(...values))} al día.`}</desc>
          <path className="grid" d={plot.grid.map((y) => `M0 ${y}H${plot.width}`).join("") || "M0 0"} />
          {plot.bars.map((bar) => (
            <g key={bar.label} className="bar-group">
              <title>{`${bar.label}: ${said(bar.value)}`}</title>
              <rect className="hit" x={bar.hit} y="0" width={bar.step} height={plot.height} />
              <rect className="a" x={bar.x} y={bar.y} width={bar.width} height={bar.height} />
            </g>
          ))}
          <path className="axis" d={`M0 ${plot.height}H${plot.width}`} />
        </svg>
        <span className="x" aria-hidden="true">
          {plot.xLabels.map((label) => (
            <span key={label}>{label}</span>
          ))}
        </span>
      </figure>
      <details className="more mt-4">
        <summary>
          Ver datos <Icon name="chevron" />
        </summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
        <section className="scroll figures" tabIndex={0} aria-label={`Datos: ${title}`}>
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Día</th>
                <th scope="col" className="num">
                  {unit[1]}
                </th>
              </tr>
            </thead>
            <tbody>
              {plot.bars.toReversed().map(({ label, value }) => (
                <tr key={label}>
                  <th scope="row">{label}</th>
                  <td className="num">{shown(value)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </details>
    </div>
  );
}
