import { type RawBuilder, sql } from "kysely";
import type { Db } from "../engine.server.ts";
import { prepared } from "../prepared.server.ts";
import type { GroupRow } from "../tables.ts";

/** Tables with `groupIds`; "a" is assistants in a join. */
type Limited = "models" | "tools" | "assistants" | "a" | "trainings" | "notices" | "drives" | "skills";

/**
 * Condition on things that may be for some groups only: a thing is for everybody, or this person is in one of its groups. Ids have
 * a fixed length, so that no id is part of another.
 */
export const forGroupsOf = (table: Limited, userId: string | RawBuilder<string>): RawBuilder<boolean> => {
  const groupIds = sql.ref(`${table}.groupIds`);
  return sql<boolean>`(${groupIds} is null or exists (
    select 1 from members where members."userId" = ${userId} and ${groupIds} like '%' || members."groupId" || '%'))`;
};

/** Like `forGroupsOf`, but administrators may also use things for groups that they are not in. */
export const usableBy = (table: Limited, userId: string | RawBuilder<string>): RawBuilder<boolean> =>
  sql<boolean>`(${forGroupsOf(table, userId)} or ${administers(userId)})`;

/** Condition: this person administers. */
export const administers = (userId: string | RawBuilder<string>): RawBuilder<boolean> =>
  sql<boolean>`exists (select 1 from users where users.id = ${userId} and users.role = 'admin')`;

/** Condition: this person is in a group of people under age, and does not administer. */
export const isMinor = (userId: string | RawBuilder<string>): RawBuilder<boolean> =>
  sql<boolean>`exists (select 1 from members join groups on groups.id = members."groupId"
    where members."userId" = ${userId} and groups.minors = 1 and not ${administers(userId)})`;

export type GroupOf = Pick<
  GroupRow,
  "id" | "name" | "messagesPerDay" | "tokensPerMonth" | "costPerMonth" | "budget"
> & {
  /** Cost of its members this month; null: nothing yet, or it has no budget. */
  spent: number | null;
};

/** The groups of a person. */
export async function groupsOf(db: Db, userId: string, now: number): Promise<GroupOf[]> {
  const { rows } = await findGroups(db, { userId, month: monthOf(now) });
  return rows;
}

const findGroups = prepared((db, { userId, month }: { userId: string; month: string }) =>
  db
    .selectFrom("members")
    .innerJoin("groups", "groups.id", "members.groupId")
    .leftJoin("groupCosts", (join) =>
      join.onRef("groupCosts.groupId", "=", "groups.id").on("groupCosts.month", "=", month),
    )
    .where("members.userId", "=", userId)
    .orderBy(sql`plain(groups.name)`)
    .select(["groups.id", "groups.name", "messagesPerDay", "tokensPerMonth", "costPerMonth", "budget"])
    .select("groupCosts.cost as spent"),
);

/** The UTC month of a time, as YYYY-MM. */
export const monthOf = (now: number) => new Date(now).toISOString().slice(0, 7);
