import { scaleBand, scaleLinear } from "d3-scale";
import type { Plot } from "./plot.tsx";

const size = { width: 600, height: 160 };

/** Bars for the values of days, laid out here so that the browser needs no code for it. */
export function barPlot(points: { day: string; value: number }[]): Plot {
  const highest = Math.max(...points.map(({ value }) => value)) || 1;
  const y = scaleLinear([0, highest], [size.height, 0]).nice(3);
  const x = scaleBand(
    points.map((point) => point.day),
    [0, size.width],
  ).padding(0.44);
  const step = x.step();
  const date = new Intl.DateTimeFormat("es", { day: "numeric", month: "short", timeZone: "UTC" });
  const bars = points.map(({ day: name, value }) => {
    const left = x(name) ?? 0;
    return {
      label: date.format(Date.parse(name)),
      value,
      hit: round(left - (step - x.bandwidth()) / 2),
      step: round(step),
      x: round(left),
      y: round(y(value)),
      width: round(x.bandwidth()),
      height: round(size.height - y(value)),
    };
  });
  const whole = points.every(({ value }) => Number.isInteger(value));
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

const round = (value: number) => Math.round(value * 10) / 10;
