const relative = new Intl.RelativeTimeFormat("es", { numeric: "auto" });
const date = new Intl.DateTimeFormat("es", { day: "numeric", month: "short" });

/** How long ago, in a word or two: «hace 5 min», «ayer», «3 oct». */
export function ago(iso: string, now: number): string {
  const then = Date.parse(iso);
  const minutes = Math.round((then - now) / 60_000);
  if (minutes > -1) return "ahora";
  if (minutes > -60) return `hace ${-minutes} min`;
  if (minutes > -24 * 60) return relative.format(Math.round(minutes / 60), "hour");
  const days = Math.round(minutes / (24 * 60));
  return days > -7 ? relative.format(days, "day") : date.format(then);
}
