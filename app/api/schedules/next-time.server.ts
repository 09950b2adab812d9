import { Cron } from "croner";
import type { ScheduleRow } from "../../db/tables.ts";

/** The day of the month that means the last one, however many it has. */
export const lastDay = 31;

type When = Pick<ScheduleRow, "monthDay" | "time" | "zone"> & { days: number[] };

/**
 * The next time after `after` (epoch ms) that a question is due, by the clock of its zone. A time that a change of clocks skips is
 * made up for right after that change; a time that comes twice counts once.
 */
export function nextTime({ days, monthDay, time, zone }: When, after: number): number {
  const [hour, minute] = time.split(":").map(Number);
  const day = monthDay === null ? "*" : monthDay === lastDay ? "L" : monthDay;
  const weekdays = days.length > 0 ? days.join(",") : "*";
  const next = new Cron(`${minute} ${hour} ${day} * ${weekdays}`, { timezone: zone }).nextRun(new Date(after));
  if (!next) throw new Error(`no time comes after ${after} for ${time} on ${day}, ${weekdays}`);
  return next.getTime();
}
