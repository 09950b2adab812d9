import { auditTrail } from "./audit-trail.server.ts";
import { chats } from "./chats.server.ts";
import type { AdminResource } from "./description.ts";
import { inbox } from "./inbox.server.ts";
import { messages } from "./messages.server.ts";
import { models } from "./models.server.ts";
import { pages } from "./pages.server.ts";
import { projects } from "./projects.server.ts";
import { subscriptions } from "./subscriptions.server.ts";
import { summaries } from "./summaries.server.ts";
import { trainings } from "./trainings.server.ts";
import { users } from "./users.server.ts";

/** The resources of the administration, in the order of its menu; the last two are only read. */
export const resources: AdminResource[] = [
  users,
  subscriptions,
  models,
  trainings,
  chats,
  messages,
  summaries,
  projects,
  pages,
  inbox,
  auditTrail,
];
