import { sql } from "kysely";
import type { Db } from "../engine.server.ts";
import { prepared } from "../prepared.server.ts";
import { isMinor, usableBy } from "./groups.server.ts";

// As many as a prompt has room for; a person has no more.
export const memoriesAtMost = 200;

type Asked = { userId: string; projectId: string | null };

/**
 * Whether models are given a person's memories: the person has switched memories on, and the house has the tool for their groups.
 */
export const remembers = prepared((db, { userId }: { userId: string }) =>
  db
    .selectFrom("users")
    .where("users.id", "=", userId)
    .where("users.remembers", "=", sql.lit(1))
    .where((e) => e.exists(memoryTool(db, userId)))
    .select("users.id"),
);

/** The tool that remembers, where the house has it for a person. */
export const memoryTool = (db: Db, userId: string) =>
  db
    .selectFrom("tools")
    .where("tools.kind", "=", sql.lit("memory"))
    .where("tools.enabled", "=", sql.lit(1))
    .where(usableBy("tools", userId))
    .where((e) => e.or([e("tools.allowed", "=", sql.lit("everyone")), e.not(isMinor(userId))]))
    .select("tools.id");

/** Sentences for all chats of a person and for those of a project, the oldest first. */
export const memoriesFor = prepared((db, { userId, projectId }: Asked) =>
  db
    .selectFrom("memories")
    .where("userId", "=", userId)
    .where((e) => e.or([e("projectId", "is", null), e("projectId", "=", projectId ?? "")]))
    .orderBy("id")
    .limit(memoriesAtMost)
    .select(["id", "text", "createdAt"]),
);
