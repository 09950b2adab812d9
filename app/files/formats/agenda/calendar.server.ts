import { type Component, type ContentLine, componentsOf, valueIn } from "./content-lines.server.ts";

/** The events and tasks of an iCalendar file as a person reads them in an agenda; the text itself if it has none. */
export function calendarText(text: string): string {
  const calendars = componentsOf(text).filter(({ name }) => name === "VCALENDAR");
  const shown = calendars.flatMap((calendar) => {
    const title = valueIn(calendar, "X-WR-CALNAME");
    const zone = zoneOf(calendar);
    const entries = calendar.components.filter(({ name }) => /^V(?:EVENT|TODO|JOURNAL)$/.test(name));
    const isCancelled = valueIn(calendar, "METHOD")?.toUpperCase() === "CANCEL";
    return [...(title ? [`Calendario: ${title}`] : []), ...entries.map((entry) => entryText(entry, zone, isCancelled))];
  });
  return shown.length > 0 ? shown.join("\n\n") : text;
}

function entryText(entry: Component, zone: string | undefined, isCancelled: boolean): string {
  const status = valueIn(entry, "STATUS")?.toUpperCase() ?? (isCancelled ? "CANCELLED" : "");
  const said = (label: string, name: string) => labelled(label, valueIn(entry, name));
  const due = entry.lines.find(({ name }) => name === "DUE");
  const repeats = valueIn(entry, "RRULE");
  const left = entry.lines.filter(({ name }) => name === "EXDATE");
  return [
    `# ${valueIn(entry, "SUMMARY") ?? "Sin título"}`,
    labelled("Estado", statuses[status]),
    labelled("Cuándo", timesOf(entry, zone)),
    labelled("Vence", due && momentText(due, zone)),
    labelled("Se repite", repeats && repetition(repeats, zone)),
    labelled("Salvo", left.map((line) => momentText(line, zone)).join("; ")),
    said("Lugar", "LOCATION"),
    labelled("Organiza", peopleIn(entry, "ORGANIZER").join(", ")),
    labelled("Asisten", peopleIn(entry, "ATTENDEE").join(", ")),
    said("Categorías", "CATEGORIES"),
    said("Enlace", "URL"),
    valueIn(entry, "DESCRIPTION"),
  ]
    .filter(Boolean)
    .join("\n");
}

const labelled = (label: string, value: string | undefined) => value && `${label}: ${value}`;

const statuses: Record<string, string> = {
  ...{ CANCELLED: "anulado", TENTATIVE: "sin confirmar", COMPLETED: "hecho", "IN-PROCESS": "empezado" },
};
const answers: Record<string, string> = {
  ...{ ACCEPTED: " (asiste)", DECLINED: " (no asiste)", TENTATIVE: " (quizá asista)" },
};

function peopleIn({ lines }: Component, name: string): string[] {
  return lines.flatMap((line) => {
    if (line.name !== name) return [];
    const address = line.value.replace(/^mailto:/i, "").trim();
    const { CN = "", PARTSTAT = "" } = line.parameters;
    const called = CN && CN !== address ? `${CN} <${address}>` : address;
    return [`${called}${answers[PARTSTAT.toUpperCase()] ?? ""}`];
  });
}

/** The time zone of a calendar's moments in universal time: its own, or that of its events. */
function zoneOf(calendar: Component): string | undefined {
  const zones = calendar.components.filter(({ name }) => name === "VTIMEZONE").map((one) => valueIn(one, "TZID"));
  return [valueIn(calendar, "X-WR-TIMEZONE"), ...zones].find((zone) => zone && clockOf(zone));
}

// Making one costs more than all that it is used for here.
const clocks = new Map<string, Intl.DateTimeFormat | undefined>();

/** The clock of a time zone, by its IANA name; undefined for other names. */
function clockOf(timeZone: string): Intl.DateTimeFormat | undefined {
  if (!clocks.has(timeZone)) {
    const fields = { year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric" } as const;
    try {
      clocks.set(timeZone, new Intl.DateTimeFormat("en", { timeZone, hourCycle: "h23", ...fields }));
    } catch {
      clocks.set(timeZone, undefined);
    }
  }
  return clocks.get(timeZone);
}

type Moment = { at: number; isDay: boolean; zone: string };

/** A moment as it is written; `at`: its wall clock in ms, as if it were UTC; `zone`: the zone of that clock, empty where it is not said. */
function momentOf(value: string, parameters: Record<string, string>, zone: string | undefined): Moment | undefined {
  const [, year, month, day, hour, minute = "0", isUtc] =
    /^(\d{4})-?(\d\d)-?(\d\d)(?:T(\d\d):?(\d\d)(?::?\d\d)?(Z)?)?/.exec(value.trim()) ?? [];
  if (!year) return;
  const at = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour ?? 0), Number(minute));
  if (!isUtc) return { at, isDay: hour === undefined, zone: parameters.TZID ?? "" };
  return zone ? { at: wallClock(at, zone), isDay: false, zone } : { at, isDay: false, zone: "UTC" };
}

/** The wall clock of a moment in a zone, as ms of the same clock in UTC. */
function wallClock(at: number, zone: string): number {
  const parts = clockOf(zone)?.formatToParts(at) ?? [];
  const part = (type: string) => Number(parts.find((one) => one.type === type)?.value);
  return Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"));
}

const days = new Intl.DateTimeFormat("es", { dateStyle: "full", timeZone: "UTC" });
const hours = new Intl.DateTimeFormat("es", { timeStyle: "short", timeZone: "UTC" });
// Outlook names zones as Windows does, in English.
const inZone = (zone: string) => (zone && clockOf(zone) ? ` (${zone})` : "");
const shown = ({ at, isDay }: Moment) => (isDay ? days.format(at) : `${days.format(at)}, ${hours.format(at)}`);

/** The moments of a line, which may be several. */
const momentText = ({ value, parameters }: ContentLine, zone: string | undefined): string =>
  value
    .split(",")
    .flatMap((one) => momentOf(one, parameters, zone) ?? [])
    .map((moment) => `${shown(moment)}${inZone(moment.zone)}`)
    .join("; ");

const dayLength = 24 * 60 * 60_000;

function timesOf(entry: Component, zone: string | undefined): string | undefined {
  const momentNamed = (name: string) => {
    const line = entry.lines.find((one) => one.name === name);
    return line && momentOf(line.value, line.parameters, zone);
  };
  const start = momentNamed("DTSTART");
  if (!start) return;
  const given = momentNamed("DTEND");
  // The end of whole days is the day after the last one.
  const end = given?.isDay ? { ...given, at: given.at - dayLength } : given;
  const lasts = durationText(valueIn(entry, "DURATION"));
  const from = shown(start);
  if (!end || end.at <= start.at) return `${from}${lasts && `, dura ${lasts}`}${inZone(start.zone)}`;
  const isSameDay = days.format(end.at) === days.format(start.at);
  return `${from}${isSameDay ? `–${hours.format(end.at)}` : ` – ${shown(end)}`}${inZone(start.zone)}`;
}

function durationText(value = ""): string {
  const [, weeks, inDays, inHours, minutes] =
    /^P(?:(\d{1,4})W)?(?:(\d{1,4})D)?(?:T(?:(\d{1,4})H)?(?:(\d{1,5})M)?)?/.exec(value) ?? [];
  const units: [string | undefined, string][] = [
    [weeks, "semanas"],
    [inDays, "días"],
    [inHours, "h"],
    [minutes, "min"],
  ];
  return units.flatMap(([count, unit]) => (count ? [`${count} ${unit}`] : [])).join(" ");
}

const frequencies: Record<string, [one: string, many: string]> = {
  DAILY: ["cada día", "días"],
  WEEKLY: ["cada semana", "semanas"],
  MONTHLY: ["cada mes", "meses"],
  YEARLY: ["cada año", "años"],
};
const weekdays: Record<string, string> = {
  ...{ MO: "lunes", TU: "martes", WE: "miércoles", TH: "jueves", FR: "viernes", SA: "sábado", SU: "domingo" },
};
const places: Record<string, string> = {
  ...{ 1: "primer ", 2: "segundo ", 3: "tercer ", 4: "cuarto ", 5: "quinto ", "-1": "último " },
};

/** A rule of repetition in words, such as «cada 2 semanas, martes y jueves, hasta el …». */
function repetition(rule: string, zone: string | undefined): string {
  const said = new Map(rule.split(";").map((one) => [one.split("=")[0]?.toUpperCase() ?? "", one.split("=")[1] ?? ""]));
  const [one, many] = frequencies[said.get("FREQ")?.toUpperCase() ?? ""] ?? [rule, ""];
  const interval = Number(said.get("INTERVAL") ?? 1);
  const on = (said.get("BYDAY") ?? "").split(",").flatMap((day) => {
    const [, place = "", name = ""] = /^([+-]?\d{0,2})([A-Z]{2})$/i.exec(day.trim()) ?? [];
    const weekday = weekdays[name.toUpperCase()];
    return weekday ? [`${places[place.replace("+", "")] ?? ""}${weekday}`] : [];
  });
  const until = momentOf(said.get("UNTIL") ?? "", {}, zone);
  return [
    interval > 1 && many ? `cada ${interval} ${many}` : one,
    on.length > 0 && new Intl.ListFormat("es").format(on),
    said.get("BYMONTHDAY") && `el día ${said.get("BYMONTHDAY")}`,
    until && `hasta el ${days.format(until.at)}`,
    said.get("COUNT") && `${said.get("COUNT")} veces`,
  ]
    .filter(Boolean)
    .join(", ");
}
