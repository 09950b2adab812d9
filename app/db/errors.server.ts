// SQLite's extended codes for a unique index and a primary key; PostgreSQL's SQLSTATE.
const codes = new Set<unknown>([2067, 1555, "23505"]);

/** Whether a write failed because its value is there already, on either engine. */
export function isTaken(error: unknown): boolean {
  const { errcode, code } = error as { errcode?: number; code?: string };
  return codes.has(errcode) || codes.has(code);
}
