/** The browser's time zone from the cookie that `ui/time-zone.ts` sets, or UTC without it. */
export function zoneOf(request: Request): string {
  const said = request.headers.get("Cookie")?.match(/(?:^|; )zona=([\w%./+-]{1,60})/)?.[1];
  return knownZone(said?.replaceAll("%2F", "/").replaceAll("%2B", "+"));
}

/** The zone if it exists, else UTC: cookies, headers and fields can hold anything. */
export function knownZone(said: string | undefined): string {
  try {
    return new Intl.DateTimeFormat("es", { timeZone: said || "UTC" }).resolvedOptions().timeZone;
  } catch {
    return "UTC";
  }
}

/** When something is, seen from now: «hoy a las 14:30», «mañana a las 1:00», «el 1 de diciembre a las 1:00 (UTC)». */
export function momentInWords(at: number, now: number, timeZone: string): string {
  const day = (time: number) => new Intl.DateTimeFormat("en-CA", { timeZone, dateStyle: "short" }).format(time);
  const hour = new Intl.DateTimeFormat("es", { timeZone, hour: "numeric", minute: "2-digit" }).format(at);
  const date = new Intl.DateTimeFormat("es", { timeZone, day: "numeric", month: "long" }).format(at);
  const dayLong = 24 * 60 * 60_000;
  const which = day(at) === day(now) ? "hoy" : day(at) === day(now + dayLong) ? "mañana" : `el ${date}`;
  return `${which} a las ${hour}${timeZone === "UTC" ? " (UTC)" : ""}`;
}
