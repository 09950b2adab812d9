export type Device = { device: string; seen: string };

const browsers: [RegExp, string][] = [
  [/Edg\//, "Edge"],
  [/OPR\//, "Opera"],
  [/Firefox\/|FxiOS/, "Firefox"],
  [/Chrom(e|ium)\/|CriOS/, "Chrome"],
  [/Safari\//, "Safari"],
  [/w3m/i, "w3m"],
  [/lynx/i, "Lynx"],
  [/elinks/i, "ELinks"],
  [/dillo/i, "Dillo"],
];
const systems: [RegExp, string][] = [
  [/iPhone/, "iPhone"],
  [/iPad/, "iPad"],
  [/Android/, "Android"],
  [/Windows/, "Windows"],
  [/Mac OS X|Macintosh/, "Mac"],
  [/Linux|X11/, "Linux"],
];
const minute = 60_000;

/** A session as its person knows it: «Firefox en Linux», and when and from where it was last seen. */
export function deviceOf(
  session: { userAgent: string; ip: string; createdAt: string; lastSeenAt: string },
  now: number,
  timeZone: string,
): Device {
  const find = (list: [RegExp, string][]) => list.find(([pattern]) => pattern.test(session.userAgent))?.[1];
  const [browser, system] = [find(browsers), find(systems)];
  const device = [browser ?? "Otro programa", system].filter(Boolean).join(" en ");
  const opened = `abierta el ${when(session.createdAt, timeZone)}`;
  const seen = `vista ${ago(Date.parse(session.lastSeenAt), now, timeZone)}`;
  return { device, seen: [session.ip, opened, seen].filter(Boolean).join(", ") };
}

const when = (time: string, timeZone: string) =>
  new Date(time).toLocaleString("es", { day: "numeric", month: "short", hour: "numeric", minute: "2-digit", timeZone });

function ago(time: number, now: number, timeZone: string): string {
  const relative = new Intl.RelativeTimeFormat("es", { numeric: "auto" });
  const minutes = Math.floor((now - time) / minute);
  // The time of the last use is stored only every five minutes (api/http/authentication.server.ts).
  if (minutes < 6) return "ahora mismo";
  if (minutes < 60) return relative.format(-minutes, "minute");
  if (minutes < 24 * 60) return relative.format(-Math.floor(minutes / 60), "hour");
  return `el ${new Date(time).toLocaleDateString("es", { day: "numeric", month: "long", timeZone })}`;
}
