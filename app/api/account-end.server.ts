import type { Context } from "hono";
import { sql } from "kysely";
import { stopReplies } from "./access.server.ts";
import { recordAudit } from "./audit.server.ts";
import type { ApiEnv } from "./env.server.ts";
import { Problem } from "./problem.server.ts";

/** Deletes the person's account with all that is theirs. Throws 409 for the last admin. */
export async function deleteAccount(c: Context<ApiEnv>): Promise<void> {
  const { person, services } = c.var;
  const { db, engine } = services;
  const { id } = person;
  const writing = db.selectFrom("messages").where("userId", "=", id).where("status", "=", "streaming");
  for (const { chatId } of await writing.select("chatId").execute()) await stopReplies(services, chatId);
  const files = await db.selectFrom("files").where("userId", "=", id).select("id").execute();
  await db.transaction().execute(async (trx) => {
    // Two admins leaving at the same moment must not both believe that the other stays.
    if (engine === "postgres") await sql`lock table users in share row exclusive mode`.execute(trx);
    const others = trx.selectFrom("users").where("role", "=", "admin").where("status", "=", "active");
    if (person.role === "admin" && !(await others.where("id", "!=", id).select("id").limit(1).executeTakeFirst())) {
      throw new Problem(409, "Eres la única persona que administra esta instalación: sin ti no podría hacerlo nadie.");
    }
    await trx.deleteFrom("users").where("id", "=", id).execute();
    await recordAudit(trx, c, { actorId: id, action: "delete", resource: "user", resourceId: id });
    // What happened stays on record, from where and with what details does not.
    await trx
      .updateTable("audit")
      .set({ ip: "", changes: "{}" })
      .where((e) => e.or([e("actorId", "=", id), e.and([e("resource", "=", "user"), e("resourceId", "=", id)])]))
      .execute();
  });
  await services.files.delete(files.map((file) => file.id));
}
