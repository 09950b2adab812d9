import type { Context } from "hono";
import type { ApiEnv } from "../env.server.ts";
import { stopReplies } from "../http/access.server.ts";
import { recordAudit } from "../http/audit.server.ts";
import { notFound } from "../http/problem.server.ts";
import { lockAdmins, refuseLastAdmin } from "./account-admin.server.ts";

/** Deletes an account and everything that belongs to it. Throws 404, and 409 for the last admin. */
export async function deleteAccount(c: Context<ApiEnv>, id: string): Promise<void> {
  const { services } = c.var;
  const { db, engine } = services;
  const writing = db.selectFrom("messages").where("userId", "=", id).where("status", "=", "streaming");
  for (const { chatId } of await writing.select("chatId").execute()) await stopReplies(services, chatId);
  const files = await db.selectFrom("files").where("userId", "=", id).select("id").execute();
  await db.transaction().execute(async (trx) => {
    await lockAdmins(trx, engine);
    const account = await trx
      .selectFrom("users")
      .where("id", "=", id)
      .select(["id", "role"])
      .executeTakeFirstOrThrow(notFound);
    await refuseLastAdmin(trx, account);
    await trx.deleteFrom("users").where("id", "=", id).execute();
    // The audit trail keeps who did what and from where; details about the deleted person and their addresses are removed.
    await trx.updateTable("audit").set({ ip: "" }).where("actorId", "=", id).execute();
    await trx
      .updateTable("audit")
      .set({ changes: "{}" })
      .where((e) =>
        e.or([
          e("actorId", "=", id),
          e("ownerId", "=", id),
          e.and([e("resource", "=", "user"), e("resourceId", "=", id)]),
        ]),
      )
      .execute();
    await recordAudit(trx, c, "delete", "user", id);
  });
  await services.files.delete(files.map((file) => file.id));
}
