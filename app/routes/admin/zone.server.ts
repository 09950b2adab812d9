import { createContext } from "react-router";
import type { Context } from "../../web/context.ts";

/** The time zone that an admin reads and writes hours in. */
export const zoneContext = createContext("UTC");

/** «hora de Madrid». */
export function zoneInWords(context: Context): string {
  const zone = context.get(zoneContext);
  const city = zone.split("/").at(-1)?.replaceAll("_", " ");
  return zone === "UTC" ? "UTC" : `hora de ${city}`;
}

/** A moment as a `datetime-local` input has it, in that zone. */
export function toLocal(at: number, zone: string): string {
  return new Date(at + offset(at, zone)).toISOString().slice(0, 16);
}

/** The moment in a `datetime-local` input in that zone, as ISO 8601; other texts stay as they are, for the API to refuse. */
export function fromLocal(text: string, zone: string): string {
  const asUtc = Date.parse(`${text}Z`);
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(text) || Number.isNaN(asUtc)) return text;
  // The first offset is that of the local time read as UTC, perhaps on the other side of a clock change, so it is looked
  // up again at the moment found.
  const near = asUtc - offset(asUtc, zone);
  return new Date(asUtc - offset(near, zone)).toISOString();
}

/** How far the clocks of a zone are ahead of UTC, in ms. */
function offset(at: number, timeZone: string): number {
  const parts = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" }).formatToParts(at);
  const said = parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
  const [, sign, hours, minutes] = /GMT([+-])(\d\d):(\d\d)/.exec(said) ?? [];
  return (sign === "-" ? -1 : 1) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000;
}
