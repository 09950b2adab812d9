// Created on first use: each formatter holds several hundred kilobytes.
let relative: Intl.RelativeTimeFormat | undefined;
let date: Intl.DateTimeFormat | undefined;

/** How long ago, in a word or two: «hace 5 min», «ayer», «3 oct». */
export function ago(iso: string, now: number): string {
  const then = Date.parse(iso);
  const minutes = Math.round((then - now) / 60_000);
  if (minutes > -1) return "ahora";
  if (minutes > -60) return `hace ${-minutes} min`;
  relative ??= new Intl.RelativeTimeFormat("es", { numeric: "auto" });
  if (minutes > -24 * 60) return relative.format(Math.round(minutes / 60), "hour");
  const days = Math.round(minutes / (24 * 60));
  date ??= new Intl.DateTimeFormat("es", { day: "numeric", month: "short" });
  return days > -7 ? relative.format(days, "day") : date.format(then);
}
