/** The browser's time zone from the cookie that `ui/navigation/time-zone.ts` sets; undefined without it. */
export function zoneOf(request: Request): string | undefined {
  const said = request.headers.get("Cookie")?.match(/(?:^|; )zona=([\w%./+-]{1,60})/)?.[1];
  return said && knownZone(said.replaceAll("%2F", "/").replaceAll("%2B", "+"));
}

// Zones by the names that were given. Making a DateTimeFormat takes a quarter of a millisecond, and every request brings a zone.
const known = new Map<string, string>();
// There are some 600 zones; anybody may write them in other ways.
const keptNames = 1_000;

/** The zone if it exists, else UTC: cookies, headers and fields can hold anything. */
export function knownZone(given: string | undefined): string {
  const said = given || "UTC";
  const zone = known.get(said);
  if (zone !== undefined) return zone;
  try {
    const { timeZone } = new Intl.DateTimeFormat("es", { timeZone: said }).resolvedOptions();
    if (known.size >= keptNames) known.clear();
    known.set(said, timeZone);
    return timeZone;
  } catch {
    return "UTC";
  }
}

/** When something is, seen from now: «hoy a las 14:30», «mañana a la 1:00», «el 1 de diciembre a las 2:00 (UTC)». */
export function momentInWords(at: number, now: number, timeZone: string): string {
  const day = (time: number) => new Intl.DateTimeFormat("en-CA", { timeZone, dateStyle: "short" }).format(time);
  const hour = new Intl.DateTimeFormat("es", { timeZone, hour: "numeric", minute: "2-digit" }).format(at);
  const date = new Intl.DateTimeFormat("es", { timeZone, day: "numeric", month: "long" }).format(at);
  const dayLong = 24 * 60 * 60_000;
  const which = day(at) === day(now) ? "hoy" : day(at) === day(now + dayLong) ? "mañana" : `el ${date}`;
  return `${which} ${atHour(hour)}${timeZone === "UTC" ? " (UTC)" : ""}`;
}

/** The hour of a clock with its article: «a la 1:30», «a las 8:00». */
export const atHour = (hour: string): string => (hour.startsWith("1:") ? `a la ${hour}` : `a las ${hour}`);

/** The day of a time where somebody is: «27 de noviembre de 2026». */
export const dayInWords = (time: string, timeZone: string): string =>
  new Intl.DateTimeFormat("es", { dateStyle: "long", timeZone }).format(new Date(time));
