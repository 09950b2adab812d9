import { faultOf } from "../process/fault.ts";

// SQLite's extended codes for a unique index and a primary key; PostgreSQL's SQLSTATE.
const codes = new Set<unknown>([2067, 1555, "23505"]);

/** Whether a write violated a unique constraint, on either engine. */
export function isTaken(error: unknown): boolean {
  const { errcode, code } = faultOf(error);
  return codes.has(errcode) || codes.has(code);
}

/** Whether a write names a row that is not there (a foreign key), on either engine. */
export function isOrphan(error: unknown): boolean {
  const { errcode, code } = faultOf(error);
  return errcode === 787 || code === "23503";
}

// PostgreSQL's SQLSTATE and Node's names of errors: the connection ends, there is no database, or the database is read-only, as after
// another server has taken its place.
const lost = /^(08|25006|3D000|57P0[123]|53300|55000|ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)/;

/** Why nothing can be stored at the moment through no fault of the request, on either engine; undefined for other errors. */
export function whyUnavailable(error: unknown): "full" | "busy" | "lost" | undefined {
  const { errcode, code, message } = faultOf(error);
  // SQLite's primary codes (the low byte): FULL, BUSY and LOCKED.
  if ((errcode & 0xff) === 13 || code === "53100" || code === "ENOSPC" || code === "EDQUOT") return "full";
  if ((errcode & 0xff) === 5 || (errcode & 0xff) === 6 || code === "55P03") return "busy";
  // All connections are in use, and none became free.
  if (/^timeout exceeded when trying to connect/.test(message)) return "busy";
  if (lost.test(code) || /^Connection terminated|connection timeout/i.test(message)) return "lost";
}
