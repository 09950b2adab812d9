import { sql } from "kysely";
import { limits } from "../../process/limits.ts";
import type { Db } from "../engine.server.ts";
import { prepared } from "../prepared.server.ts";
import { forGroupsOf } from "./groups.server.ts";

/** Skills that models may open for a person, their own before the shared ones of their groups. */
const skillsOf = (db: Db, { userId }: { userId: string }) =>
  db
    .selectFrom("skills")
    .where((e) =>
      e.or([e("userId", "=", userId), e.and([e("shared", "=", sql.lit(1)), forGroupsOf("skills", userId)])]),
    )
    .orderBy(sql`case when "userId" = ${userId} then 0 else 1 end`)
    .orderBy(sql`plain(name)`);

/** Names and descriptions of these skills, as many as a person may have and as many again of others. */
export const listedSkills = prepared((db, person: { userId: string }) =>
  skillsOf(db, person)
    .limit(2 * limits.skills)
    .select(["name", "description"]),
);

/** The first of these skills with the given name. */
export const skillCalled = (db: Db, userId: string, name: string) =>
  skillsOf(db, { userId }).where("name", "=", name).selectAll().executeTakeFirst();
