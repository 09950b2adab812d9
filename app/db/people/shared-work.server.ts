import { type RawBuilder, sql } from "kysely";

/** Condition on the column of a project's id: this person owns it, or is a member of it. */
export const inProjectOf = (column: string, userId: string): RawBuilder<boolean> =>
  sql<boolean>`(exists (select 1 from projects p where p.id = ${sql.ref(column)} and p."userId" = ${userId})
    or exists (select 1 from "projectMembers" m where m."projectId" = ${sql.ref(column)} and m."userId" = ${userId}))`;

/** Condition on the table `chats`: others let this person read the chat, as a member of its project or of a group. */
export const shownTo = (userId: string): RawBuilder<boolean> =>
  sql<boolean>`(${inProjectOf("chats.projectId", userId)} or ${shownByGroup(userId)})`;

/** Condition on the table `chats`: its author shows the chat to a group in which both are. */
export const shownByGroup = (userId: string): RawBuilder<boolean> =>
  sql<boolean>`exists (
    select 1 from "shownChats" s join members g on g."groupId" = s."groupId"
    join members author on author."groupId" = s."groupId" and author."userId" = chats."userId"
    where s."chatId" = chats.id and g."userId" = ${userId})`;
