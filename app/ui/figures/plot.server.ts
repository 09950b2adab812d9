import { scaleBand, scaleLinear } from "d3-scale";
import type { Plot } from "./plot.tsx";

const size = { width: 600, height: 160 };

/** Lays out (stacked) bars of daily values on the server, so that the browser needs no code for it. */
export function barPlot(points: { day: string; values: number[] }[]): Plot {
  const highest = Math.max(...points.map(({ values }) => sum(values))) || 1;
  const y = scaleLinear([0, highest], [size.height, 0]).nice(3);
  const x = scaleBand(
    points.map((point) => point.day),
    [0, size.width],
  ).padding(0.44);
  const step = x.step();
  const date = new Intl.DateTimeFormat("es", { day: "numeric", month: "short", timeZone: "UTC" });
  const bars = points.map(({ day: name, values }) => {
    const left = x(name) ?? 0;
    return {
      label: date.format(Date.parse(name)),
      values,
      hit: round(left - (step - x.bandwidth()) / 2),
      step: round(step),
      x: round(left),
      width: round(x.bandwidth()),
      parts: values.map((value, index) => ({
        y: round(y(sum(values.slice(0, index + 1)))),
        height: round(size.height - y(value)),
      })),
    };
  });
  const whole = points.every(({ values }) => values.every(Number.isInteger));
  const ticks = y.ticks(3).filter((tick) => !whole || Number.isInteger(tick));
  const every = Math.max(1, Math.ceil(points.length / 5));
  return {
    ...size,
    bars,
    grid: ticks.filter((tick) => tick > 0).map((tick) => round(y(tick))),
    yLabels: ticks.reverse().map((tick) => tick.toLocaleString("es")),
    xLabels: bars.filter((_, index) => index % every === 0 || index === bars.length - 1).map(({ label }) => label),
  };
}

const sum = (values: number[]) => values.reduce((all, value) => all + value, 0);
const round = (value: number) => Math.round(value * 10) / 10;
