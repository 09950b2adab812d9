import { useId } from "react";
import { Icon } from "../icon.tsx";
import { TableHead } from "../table-head.tsx";

type Bar = {
  label: string;
  /** One value for each series. */
  values: number[];
  hit: number;
  step: number;
  x: number;
  width: number;
  parts: { y: number; height: number }[];
};

export type Plot = {
  width: number;
  height: number;
  bars: Bar[];
  grid: number[];
  yLabels: string[];
  xLabels: string[];
};

/** `series`: names of a day's values, if there are several: up to three. */
type Props = { plot: Plot; title: string; unit: [one: string, many: string]; series?: string[] };

const colours = ["a", "b", "c"];

const shown = (value: number) => value.toLocaleString("es", { maximumFractionDigits: 4 });

/** A plot of days as bars, laid out by the server; its figures stand under «Ver datos» as well. */
export function BarPlot({ plot, title, unit, series = [] }: Props) {
  return (
    <div>
      <h3 className="plot-title">{title}</h3>
      {series.length > 1 && (
        <ul className="key">
          {series.map((name, index) => (
            <li key={name}>
              <svg className={colours[index]} viewBox="0 0 10 10" aria-hidden="true">
                <rect width="10" height="10" />
              </svg>
              {name}
            </li>
          ))}
        </ul>
      )}
      <figure className="plot">
        <span className="y" aria-hidden="true">
          {plot.yLabels.map((label) => (
            <span key={label}>{label}</span>
          ))}
        </span>
        <Bars plot={plot} title={title} unit={unit} series={series} />
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
        <Figures bars={plot.bars} title={title} names={series.length > 0 ? series : [unit[1]]} />
      </details>
    </div>
  );
}

function Bars({ plot, title, unit, series }: Required<Props>) {
  const id = useId();
  const said = (value: number) => `${shown(value)} ${value === 1 ? unit[0] : unit[1]}`;
  const total = ({ values }: Bar) => values.reduce((all, value) => all + value, 0);
  const totals = plot.bars.map(total);
  const told = (bar: Bar) =>
    series.length > 0
      ? bar.values.map((value, index) => `${shown(value)} ${series[index]}`).join(", ")
      : said(total(bar));
  return (
    <svg
      viewBox={`0 0 ${plot.width} ${plot.height}`}
      preserveAspectRatio="none"
      role="img"
      aria-labelledby={`${id}t ${id}d`}
    >
      <title id={`${id}t`}>{title}</title>
      <desc id={`${id}d`}>{`Entre ${shown(Math.min(...totals))} y ${said(Math.max(...totals))} al día.`}</desc>
      <path className="grid" d={plot.grid.map((y) => `M0 ${y}H${plot.width}`).join("") || "M0 0"} />
      {plot.bars.map((bar) => (
        <g key={bar.label} className="bar-group">
          <title>{`${bar.label}: ${told(bar)}`}</title>
          <rect className="hit" x={bar.hit} y="0" width={bar.step} height={plot.height} />
          {bar.parts.map(({ y, height }, index) => (
            <rect key={colours[index]} className={colours[index]} x={bar.x} y={y} width={bar.width} height={height} />
          ))}
        </g>
      ))}
      <path className="axis" d={`M0 ${plot.height}H${plot.width}`} />
    </svg>
  );
}

function Figures({ bars, title, names }: { bars: Bar[]; title: string; names: string[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <section className="scroll figures" tabIndex={0} aria-label={`Datos: ${title}`}>
      <table className="table">
        <TableHead texts={["Día"]} numbers={names} />
        <tbody>
          {bars.toReversed().map(({ label, values }) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              {values.map((value, index) => (
                <td key={colours[index]} className="num">
                  {shown(value)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
