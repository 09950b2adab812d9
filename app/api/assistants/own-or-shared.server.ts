import type { Person } from "../env.server.ts";
import { isAdmin } from "../http/authentication.server.ts";

/** Whether the person may change a thing that is their own, or, for who administers, shared with all. */
export const mayChange = (row: { userId: string; shared: 0 | 1 }, person: Person): boolean =>
  row.userId === person.id || (isAdmin(person) && row.shared === 1);
