import { z } from "@hono/zod-openapi";
import type { RawBuilder, SelectQueryBuilder } from "kysely";
import { sql } from "kysely";
import type { Db } from "../../db/engine.server.ts";
import type { Tables } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import { withoutAccents } from "../../process/text/accents.ts";
import { recordOf } from "../../process/text/json.ts";
import { invalid } from "./problem.server.ts";

/** Query parameters of all lists. Object values are JSON. */
export const listQuery = z.object({
  q: z.string("La búsqueda no es válida.").trim().max(200, "La búsqueda es demasiado larga.").default(""),
  filter: z
    .string("El filtro no es válido.")
    .max(2000, "El filtro es demasiado largo.")
    .optional()
    .openapi({ example: '{"pinned":true}' }),
  sort: z
    .string("El orden no es válido.")
    .max(200, "El orden es demasiado largo.")
    .optional()
    .openapi({ example: '{"lastMessageAt":"desc"}' }),
  limit: z.coerce
    .number("limit tiene que ser un número.")
    .int("limit tiene que ser un número entero.")
    .min(1, "limit tiene que ser 1 o más.")
    .max(limits.listMax, `limit tiene que ser ${limits.listMax} o menos.`)
    .default(limits.listDefault),
  cursor: z.string("El cursor no es de esta lista.").max(500, "El cursor no es de esta lista.").optional(),
});
export type ListQuery = z.output<typeof listQuery>;

export const listOf = <Item extends z.ZodType>(item: Item) =>
  z.object({
    items: z.array(item),
    nextCursor: z.string().nullable(),
    total: z.number().openapi({ description: `Cuántos hay en la lista entera, contados hasta ${limits.listCounted}.` }),
    totalIsMinimum: z.boolean().openapi({ description: "Si hay más de los que dice `total`." }),
  });

type Rest = { nextCursor: string | null; total: number; totalIsMinimum: boolean };

/** A column to sort by, `text` or `number`. `mayBeEmpty`: null comes before all other values; such a column is sorted without its index. */
type Sorting<Text, Number> = ({ text: Text; number?: never } | { number: Number; text?: never }) & {
  direction: "asc" | "desc";
  mayBeEmpty?: true;
};
type ColumnsOf<Row, Value> = { [Name in keyof Row & string]: Row[Name] extends Value ? Name : never }[keyof Row &
  string];
type SortingOf<Row> =
  | Sorting<ColumnsOf<Row, string>, ColumnsOf<Row, number>>
  | (Sorting<ColumnsOf<Row, string | null>, ColumnsOf<Row, number | null>> & { mayBeEmpty: true });

export type ListRules<Table extends keyof Tables> = {
  /** Columns by which the list may be sorted; the first is the default, with its direction. */
  sortable: [SortingOf<Tables[Table]>, ...SortingOf<Tables[Table]>[]];
  /** Columns by which the list may be filtered. */
  filters: { [Name in keyof Tables[Table]]?: "text" | "flag" };
};

/** List rules without the names of one table's columns. */
type AnyRules = {
  table: string;
  sortable: [Sorting<string, string>, ...Sorting<string, string>[]];
  filters: Record<string, "text" | "flag" | undefined>;
};

/**
 * One page of a query (keyset pagination), and the total up to the counting limit.
 * Throws 422 with the parameter's name for an unknown filter or sort, and for a cursor of another list.
 */
export async function listPage<All, Table extends keyof All, Row extends { id: string }>(
  db: Db,
  query: SelectQueryBuilder<All, Table, Row>,
  { filter, sort, limit, cursor }: ListQuery,
  rules: AnyRules,
): Promise<{ rows: Row[] } & Rest> {
  const filtered = applyFilters(query, parseObject("filter", filter), rules);
  const { text, number, direction, mayBeEmpty } = sorting(parseObject("sort", sort), rules);
  const column = text ?? number;
  // Times, counts and prices are not negative.
  const empty = text ? "" : -1;
  const named = sql.ref(`${rules.table}.${column}`);
  const stored = mayBeEmpty ? sql`coalesce(${named}, ${sql.lit(empty)})` : named;
  // People's words as a dictionary has them: «Álvaro» before «Beatriz». Addresses and codes keep their index.
  const isWords = text === "name" || text === "title";
  const inOrder = (value: RawBuilder<unknown>) => (isWords ? sql`plain(${value})` : value);
  const reference = inOrder(stored);
  const id = sql.ref(`${rules.table}.id`);
  let page = filtered.orderBy(reference, direction).orderBy(id, direction);
  if (cursor !== undefined) {
    const [name, value, lastId] = parseCursor(cursor);
    const fits = text ? isText(value) : Number.isFinite(value);
    if (name !== `${column} ${direction}` || !fits || !isText(lastId)) throw notThisList();
    const beyond = direction === "asc" ? sql`>` : sql`<`;
    page = page.where(sql<boolean>`(${reference}, ${id}) ${beyond} (${inOrder(sql`${value}`)}, ${lastId})`);
  }
  const rows = (await page.limit(limit + 1).execute()) as Row[];
  const isWhole = cursor === undefined && rows.length <= limit;
  const counted = isWhole ? rows.length : await countUpTo(db, filtered);
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  const nextCursor = last
    ? Buffer.from(JSON.stringify([`${column} ${direction}`, last[column as keyof Row] ?? empty, last.id])).toString(
        "base64url",
      )
    : null;
  const totalIsMinimum = counted > limits.listCounted;
  return { rows: rows.slice(0, limit), nextCursor, total: Math.min(counted, limits.listCounted), totalIsMinimum };
}

async function countUpTo<All, Table extends keyof All, Row>(
  db: Db,
  query: SelectQueryBuilder<All, Table, Row>,
): Promise<number> {
  const some = query
    .clearSelect()
    .select(sql<number>`1`.as("one"))
    .limit(limits.listCounted + 1);
  const { rows } = await sql<{ total: number }>`select count(*) as total from (${some}) as counted`.execute(db);
  return Number(rows[0]?.total);
}

function applyFilters<All, Table extends keyof All, Row>(
  query: SelectQueryBuilder<All, Table, Row>,
  filter: Record<string, unknown>,
  { table, filters }: AnyRules,
): SelectQueryBuilder<All, Table, Row> {
  return Object.entries(filter).reduce((filtered, [name, value]) => {
    const kind = Object.hasOwn(filters, name) ? filters[name] : undefined;
    if (!kind) throw invalid("filter", `No se puede filtrar por «${name}».`);
    if (kind === "flag" ? typeof value !== "boolean" : value !== null && !isText(value)) {
      throw invalid("filter", `El valor de «${name}» no es válido.`);
    }
    const reference = sql.ref(`${table}.${name}`);
    if (value === null) return filtered.where(sql<boolean>`${reference} is null`);
    return filtered.where(sql<boolean>`${reference} = ${typeof value === "boolean" ? Number(value) : value}`);
  }, query);
}

function sorting(sort: Record<string, unknown>, { sortable }: AnyRules) {
  const [entry] = Object.entries(sort);
  if (!entry) return sortable[0];
  const [name, way] = entry;
  const found = sortable.find(({ text, number }) => name === (text ?? number));
  const direction = (["asc", "desc"] as const).find((one) => one === way);
  if (!found || !direction) throw invalid("sort", `No se puede ordenar por «${name}».`);
  return { ...found, direction };
}

function parseObject(name: string, text: string | undefined): Record<string, unknown> {
  if (!text) return {};
  try {
    const value = recordOf(JSON.parse(text));
    if (value) return value;
  } catch {
    // Answered below, like any other value that is no object.
  }
  throw invalid(name, `${name} tiene que ser un objeto JSON.`);
}

function parseCursor(cursor: string): [string, string | number, string] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    const [order, last, id]: unknown[] = Array.isArray(value) && value.length === 3 ? value : [];
    if (typeof order === "string" && (typeof last === "string" || typeof last === "number") && typeof id === "string") {
      return [order, last, id];
    }
  } catch {
    // Answered below.
  }
  throw notThisList();
}

// PostgreSQL has no NUL.
const isText = (value: unknown) => typeof value === "string" && !value.includes("\0");

const notThisList = () => invalid("cursor", "El cursor no es de esta lista.");

/**
 * Whether a column contains a text, whatever its case and accents: as many keyboards have no ñ, it counts as an n. The text's own % and _ are
 * letters. An empty text is in every row.
 */
export function contains(column: string, text: string): ReturnType<typeof sql<boolean>> {
  if (text === "") return sql<boolean>`true`;
  const wanted = `%${withoutAccents(text.toLowerCase()).replace(/[%_\\]/g, "\\$&")}%`;
  return sql<boolean>`plain(${sql.ref(column)}) like ${wanted} escape '\\'`;
}
