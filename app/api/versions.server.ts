import type { Context } from "hono";
import type { ApiEnv } from "./env.server.ts";
import { Problem } from "./problem.server.ts";
import { iso } from "./schemas.server.ts";

/** The entity tag of a row (RFC 9110, 8.8.3): when it was last changed. */
export const tagOf = ({ updatedAt }: { updatedAt: number }) => `"${iso(updatedAt)}"`;

/** Where a change names the version that it was made from (If-Match), throws 409 with what is there now if that is another. */
export function refuseStale(c: Context<ApiEnv>, row: { updatedAt: number }, current: object): void {
  const wanted = c.req.header("If-Match");
  if (wanted && wanted !== tagOf(row)) {
    throw stale(current);
  }
}

/** The answer to a change of what has changed meanwhile; `current`: as it is now. */
export const stale = (current: object) =>
  new Problem(409, "Alguien lo ha cambiado mientras lo editabas. Elige con qué te quedas.", { current });

type Update = { where(column: "updatedAt", operator: "=", value: number): unknown };

/** For the query of a change that names its version: another change may have come since the row was read. It then finds nothing to change. */
export const ifUnchanged =
  (c: Context<ApiEnv>, { updatedAt }: { updatedAt: number }) =>
  <Query extends Update>(query: Query): Query =>
    c.req.header("If-Match") ? (query.where("updatedAt", "=", updatedAt) as Query) : query;
