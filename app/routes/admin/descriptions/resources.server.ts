import { auditTrail } from "./audit-trail.server.ts";
import { chats } from "./content/chats.server.ts";
import { inbox } from "./content/inbox.server.ts";
import { messages } from "./content/messages.server.ts";
import { notices } from "./content/notices.server.ts";
import { opinions } from "./content/opinions.server.ts";
import { pages } from "./content/pages.server.ts";
import { projects } from "./content/projects.server.ts";
import { summaries } from "./content/summaries.server.ts";
import type { AnyAdminResource } from "./description.ts";
import { drives } from "./drives.server.ts";
import { jobs } from "./jobs.server.ts";
import { models } from "./models/models.server.ts";
import { searchModels } from "./models/search-models.server.ts";
import { tools } from "./models/tools.server.ts";
import { trainings } from "./models/trainings.server.ts";
import { voiceModels } from "./models/voice-models.server.ts";
import { accesses } from "./people/accesses.server.ts";
import { groups } from "./people/groups.server.ts";
import { invitations } from "./people/invitations.server.ts";
import { members } from "./people/members.server.ts";
import { rooms } from "./people/rooms.server.ts";
import { subscriptions } from "./people/subscriptions.server.ts";
import { users } from "./people/users.server.ts";
import { holds } from "./rules/holds.server.ts";
import { retentions } from "./rules/retentions.server.ts";
import { webhooks } from "./webhooks.server.ts";

/** The resources of the administration by the parts of its menu, but for those of the system. */
const described: [part: string, AnyAdminResource[]][] = [
  ["Personas", [users, invitations, accesses, groups, members, subscriptions, rooms]],
  ["Modelos y herramientas", [models, tools, searchModels, voiceModels, trainings, drives, opinions]],
  ["Contenido", [chats, messages, summaries, projects, pages, notices, inbox]],
];
const rules: AnyAdminResource[] = [retentions, holds, webhooks];

/** «voice-model» is `voiceModel` in the audit trail. */
const auditName = (path: string) => path.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
const things = Object.fromEntries(
  [...described.flatMap(([, some]) => some), ...rules].map(({ path, one }) => [
    auditName(path),
    `${one[0]?.toUpperCase()}${one.slice(1)}`,
  ]),
);

/** The resources of the administration by the parts of its menu. */
export const parts: typeof described = [...described, ["Sistema", [...rules, auditTrail(things), jobs]]];

/** All resources in the order of the menu. */
export const resources: AnyAdminResource[] = parts.flatMap(([, some]) => some);
