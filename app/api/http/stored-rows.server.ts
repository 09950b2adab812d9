import type { Context } from "hono";
import type { Kysely } from "kysely";
import type { Db, Trx } from "../../db/engine.server.ts";
import type { ItemTable, Tables } from "../../db/tables.ts";
import type { ApiEnv } from "../env.server.ts";
import { Problem } from "./problem.server.ts";
import { iso } from "./schemas.server.ts";

/** Whether an If-Match names this version (RFC 9110 §13.1.1): alone, as forms have it, or with a hash behind it, as in an
 * `ETag`. A proxy that compresses makes the tag a weak one, which names the same version. */
const names = (wanted: string, { updatedAt }: { updatedAt: number }): boolean =>
  wanted.split(",").some((tag) => /^(?:W\/)?"([^";]*)(;[^"]*)?"$/.exec(tag.trim())?.[1] === iso(updatedAt));

/** The version that a request asks for; undefined if it takes any. */
const wantedBy = (c: Context<ApiEnv>): string | undefined => {
  const wanted = c.req.header("If-Match")?.trim();
  return wanted === "*" ? undefined : wanted || undefined;
};

/** Optimistic lock: if the request has If-Match and the row has changed since, throws 409 with the current version. */
export function refuseStale(c: Context<ApiEnv>, row: { updatedAt: number }, current: object): void {
  const wanted = wantedBy(c);
  if (wanted && !names(wanted, row)) throw stale(current);
}

/** The error for an edit conflict; `current` is the version that is stored now. */
export const stale = (current: object) =>
  new Problem(409, "Alguien lo ha cambiado mientras lo editabas. Elige con qué te quedas.", { current });

/** The type of the database for queries whose table is known only at run time: the columns that all tables have. */
type OneTable = { table: { id: string; createdAt: number; updatedAt: number } };
export const oneTable = (db: Db, name: ItemTable) => ({
  db: db as unknown as Kysely<OneTable>,
  name: name as "table",
});

/** A table's own columns. Flags may be booleans, and texts that hold JSON may be lists. */
export type Columns<T extends ItemTable> = {
  [Name in Exclude<keyof Tables[T], "id" | "createdAt" | "updatedAt">]: Given<Tables[T][Name]>;
};
type Given<Value> = Value | (Value extends 0 | 1 ? boolean : never) | (string extends Value ? string[] : never);

/** Columns as they are stored. */
export const encoded = (columns: object) =>
  Object.fromEntries(
    Object.entries(columns).map(([name, value]) => [
      name,
      typeof value === "boolean" ? Number(value) : Array.isArray(value) ? JSON.stringify(value) : value,
    ]),
  );

/**
 * Writes the columns of a row that differ from `before`, and its version, which always grows; returns the stored row. `isUnchanged`: writes
 * only if the row is still as it was read. Returns undefined if the row has changed in that case, or is gone.
 */
export async function storeRow<T extends ItemTable>(
  trx: Trx,
  table: T,
  before: Tables[T] & Versioned,
  columns: Partial<Columns<T>> & { updatedAt: number },
  isUnchanged: boolean,
): Promise<Tables[T] | undefined> {
  const { db, name } = oneTable(trx, table);
  const was: Record<string, unknown> = before;
  const changed = Object.entries(encoded(columns)).filter(([column, value]) => was[column] !== value);
  const updatedAt = Math.max(columns.updatedAt, before.updatedAt + 1);
  const row = await db
    .updateTable(name)
    .set({ ...Object.fromEntries(changed), updatedAt })
    .where("id", "=", before.id)
    .$if(isUnchanged, (query) => query.where("updatedAt", "=", before.updatedAt))
    .returningAll()
    .executeTakeFirst();
  return row as Tables[T] | undefined;
}

type Versioned = { id: string; updatedAt: number };

/**
 * Changes a row. Columns that somebody else has written meanwhile stay. With If-Match the row must be as it was when it was read: else
 * throws 409 with the object that `current` reads. Throws what `current` throws if the row is gone.
 */
export async function storeChange<T extends ItemTable>(
  c: Context<ApiEnv>,
  trx: Trx,
  table: T,
  before: Tables[T] & Versioned,
  columns: Partial<Columns<T>> & { updatedAt: number },
  current: () => Promise<object>,
): Promise<Tables[T]> {
  const row = await storeRow(trx, table, before, columns, wantedBy(c) !== undefined);
  if (!row) throw stale(await current());
  return row;
}
