import type { Context } from "hono";
import type { ApiEnv } from "../env.server.ts";
import { Problem } from "./problem.server.ts";
import { iso } from "./schemas.server.ts";

/** Whether an If-Match names this version (RFC 9110 §13.1.1): alone, as forms have it, or with a hash behind it, as in an `ETag`. */
const names = (wanted: string, { updatedAt }: { updatedAt: number }): boolean =>
  wanted.trim() === "*" ||
  wanted.split(",").some((tag) => /^"([^";]*)(;[^"]*)?"$/.exec(tag.trim())?.[1] === iso(updatedAt));

/** Optimistic lock: if the request has If-Match and the row has changed since, throws 409 with the current version. */
export function refuseStale(c: Context<ApiEnv>, row: { updatedAt: number }, current: object): void {
  const wanted = c.req.header("If-Match");
  if (wanted && !names(wanted, row)) {
    throw stale(current);
  }
}

/** The error for an edit conflict; `current` is the version that is stored now. */
export const stale = (current: object) =>
  new Problem(409, "Alguien lo ha cambiado mientras lo editabas. Elige con qué te quedas.", { current });

type Update = { where(column: "updatedAt", operator: "=", value: number): unknown };

/**
 * Adds the version to an UPDATE's condition when the request has If-Match, so that a change between reading and writing
 * makes it match nothing.
 */
export const ifUnchanged =
  (c: Context<ApiEnv>, { updatedAt }: { updatedAt: number }) =>
  <Query extends Update>(query: Query): Query =>
    c.req.header("If-Match") ? (query.where("updatedAt", "=", updatedAt) as Query) : query;
