import { cutText } from "../../../process/text/cut-text.ts";
import { withoutMarks } from "../../../process/text/without-marks.ts";
import type { Context } from "../../../web/context.ts";
import type { Column, Item } from "../descriptions/description.ts";
import { isReference, referred } from "../descriptions/reference.ts";
import { changesOf, type Recorded } from "../form/changes.server.ts";
import { zoneContext } from "../zone.server.ts";
import { readReferred } from "./references.server.ts";

/** A value as text. `to`: target of a link; `tone`: colour of a state; `tag`: in a frame; `moment`: not wrapped. */
export type Cell = { text: string; to?: string; number?: boolean; tone?: string; tag?: boolean; moment?: boolean };

const longest = 90;

/** The values of items in words, each row in the order of the columns; people, chats and models by their names. */
export async function cellsOf(context: Context, columns: Column[], items: Item[]): Promise<Cell[][]> {
  const names = new Map<string, string>();
  const wanted = columns.flatMap(({ name, kind }) => {
    return isReference(kind) ? items.map((item) => ({ kind, id: item[name] })) : [];
  });
  const unique = new Map(wanted.filter(({ id }) => typeof id === "string").map(({ kind, id }) => [String(id), kind]));
  await Promise.all(
    [...unique].map(async ([id, kind]) => {
      const item = await readReferred(context, kind, id);
      if (item) names.set(id, String(item.name ?? item.title));
    }),
  );
  const moment = new Intl.DateTimeFormat("es", {
    dateStyle: "short",
    timeStyle: "short",
    timeZone: context.get(zoneContext),
  });
  return items.map((item) => columns.map((column) => cellOf(column, item, names, moment)));
}

function cellOf(
  { name, kind, choices, states, tag, label }: Column,
  item: Item,
  names: Map<string, string>,
  moment: Intl.DateTimeFormat,
): Cell {
  const value = item[name];
  if (item.withheld && name === "content") return { text: "Texto no mostrado" };
  if (value === null || value === undefined || value === "")
    return { text: "", ...(kind === "number" && { number: true }) };
  const state = states?.[String(value)];
  if (state) return { text: state[0], tone: state[1] };
  if (kind === "flag" && tag) return value ? { text: label, tag: true } : { text: "" };
  if (kind === "flag") return { text: value ? "Sí" : "No" };
  if (kind === "number") return { text: Number(value).toLocaleString("es"), number: true };
  if (kind === "moment") return { text: moment.format(Date.parse(String(value))), moment: true };
  if (kind === "choice") return { text: choices?.[String(value)] ?? String(value) };
  if (isReference(kind)) {
    return { text: names.get(String(value)) ?? "eliminado", to: `/admin/${referred[kind].path}/${value}` };
  }
  const text =
    kind === "changes"
      ? changesIn(item)
      : kind === "markdown"
        ? withoutMarks(String(value).slice(0, 4 * longest))
        : String(value);
  const line = text.replace(/\s+/g, " ").trim();
  return { text: line.length > longest ? `${cutText(line, longest)}…` : line };
}

const changesIn = (item: Item) =>
  changesOf(String(item.resource), item.changes as Recorded)
    .map(({ label }) => label)
    .join(", ");
