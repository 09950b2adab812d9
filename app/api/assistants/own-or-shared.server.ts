import type { Person } from "../env.server.ts";
import { isAdmin } from "../http/authentication.server.ts";

/** Whether the person may change a row: it is their own or, if the person administers, shared with all. */
export const mayChange = (row: { userId: string; shared: 0 | 1 }, person: Person): boolean =>
  row.userId === person.id || (isAdmin(person) && row.shared === 1);
