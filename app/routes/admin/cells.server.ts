import type { RouterContextProvider } from "react-router";
import { ApiProblem, read } from "../../answers.server.ts";
import { type Column, type Item, resourceOf } from "./resource.server.ts";

type Context = Readonly<RouterContextProvider>;
/** A value in words, and where it leads. `state`: whether it is a good or an idle one. */
export type Cell = { text: string; to?: string; number?: boolean };

const referred = { person: "user", chat: "chat", project: "project", model: "model" } as const;
const longest = 90;

/** The values of items in words, each row in the order of the columns; people, chats and models by their names. */
export async function cellsOf(context: Context, columns: Column[], items: Item[]): Promise<Cell[][]> {
  const names = new Map<string, string>();
  const wanted = columns.flatMap(({ name, kind }) => {
    const path = kind && kind in referred ? referred[kind as keyof typeof referred] : undefined;
    return path ? items.map((item) => ({ path, id: item[name] })) : [];
  });
  const unique = new Map(wanted.filter(({ id }) => typeof id === "string").map(({ path, id }) => [String(id), path]));
  await Promise.all(
    [...unique].map(async ([id, path]) => {
      const name = await nameOf(context, path, id);
      if (name) names.set(id, name);
    }),
  );
  const moment = new Intl.DateTimeFormat("es", { dateStyle: "short", timeStyle: "short", timeZone: "UTC" });
  return items.map((item) => columns.map((column) => cellOf(column, item[column.name], names, moment)));
}

async function nameOf(context: Context, path: string, id: string): Promise<string | undefined> {
  try {
    const item = await read(resourceOf(context, path).api[":id"].$get({ param: { id } }));
    return String(item.name ?? item.title);
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return undefined;
    throw error;
  }
}

function cellOf(
  { kind, choices }: Column,
  value: unknown,
  names: Map<string, string>,
  moment: Intl.DateTimeFormat,
): Cell {
  if (value === null || value === undefined || value === "")
    return { text: "", ...(kind === "number" && { number: true }) };
  if (kind === "flag") return { text: value ? "Sí" : "No" };
  if (kind === "number") return { text: Number(value).toLocaleString("es"), number: true };
  if (kind === "moment") return { text: moment.format(Date.parse(String(value))) };
  if (kind === "choice") return { text: choices?.[String(value)] ?? String(value) };
  if (kind && kind in referred) {
    const path = referred[kind as keyof typeof referred];
    return { text: names.get(String(value)) ?? "eliminado", to: `/admin/${path}/${value}` };
  }
  const line = String(value).replace(/\s+/g, " ").trim();
  return { text: line.length > longest ? `${line.slice(0, longest).toWellFormed()}…` : line };
}
