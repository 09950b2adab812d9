import { atHour } from "../../../process/time-zones.server.ts";
import { weekdays } from "./weekdays.ts";

const list = new Intl.ListFormat("es");
const workdays = "1,2,3,4,5";

type When = { days: number[]; monthDay: number | null; time: string };

/** How often something is asked, in words: «Cada lunes y jueves a las 8:00». */
export function repetition({ days, monthDay, time }: When): string {
  return `${dayIn(days, monthDay)} ${atHour(time.replace(/^0/, ""))}`;
}

function dayIn(days: number[], monthDay: number | null): string {
  if (monthDay !== null) return monthDay > 28 ? "El último día de cada mes" : `El ${monthDay} de cada mes`;
  if (days.length === weekdays.length) return "Cada día";
  if (days.join() === workdays) return "De lunes a viernes";
  return `Cada ${list.format(days.map((day) => weekdays[day - 1] ?? ""))}`;
}
