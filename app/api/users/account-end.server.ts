import type { Context } from "hono";
import type { Transaction } from "kysely";
import { noteErasure } from "../../db/audit/seal.server.ts";
import { deleteMessages } from "../../db/delete-messages.server.ts";
import type { Tables } from "../../db/tables.ts";
import type { ApiEnv } from "../env.server.ts";
import { recordAudit } from "../http/audit.server.ts";
import { notFound } from "../http/problem.server.ts";
import { stopReplies } from "../http/visibility.server.ts";
import { inspections } from "../inspections/inspect.server.ts";
import { keepOthersWork } from "../projects/project-members.server.ts";
import { refuseOnHold } from "../retention/holds.server.ts";
import { lockAdmins, refuseLastAdmin } from "./account-admin.server.ts";

/**
 * Deletes an account and everything that belongs to it. Throws 404, and 409 for the last admin. After the first step nobody can sign
 * in to the account; its messages are deleted in small steps, and the rest in one step.
 */
export async function deleteAccount(c: Context<ApiEnv>, id: string): Promise<void> {
  const { services } = c.var;
  const { db, engine } = services;
  await refuseOnHold(db, c.var.person, id);
  await stopReplies(services, { userId: id });
  const files = await db.selectFrom("files").where("userId", "=", id).select("id").execute();
  // The storage keeps the person's prepared exports, and the files of their imports, under the ids of the jobs.
  const jobs = await db.selectFrom("jobs").where("userId", "=", id).select("id").execute();
  const { email } = await db.transaction().execute(async (trx) => {
    await lockAdmins(trx, engine);
    const account = await trx
      .selectFrom("users")
      .where("id", "=", id)
      .select(["id", "role", "email"])
      .executeTakeFirstOrThrow(notFound);
    await refuseLastAdmin(trx, account);
    await trx.updateTable("users").set({ status: "inactive" }).where("id", "=", id).execute();
    await recordAudit(trx, c, "update", "user", id, { changes: { after: { status: "inactive" } } });
    return account;
  });
  await deleteMessages(db, { userId: id });
  await db.transaction().execute(async (trx) => {
    const projects = await trx.selectFrom("projects").where("userId", "=", id).select("id").execute();
    await keepOthersWork(
      trx,
      projects.map((project) => project.id),
      id,
    );
    await handOver(trx, id, c.var.person.id);
    await forgetInvitations(trx, id, email);
    await trx.deleteFrom("users").where("id", "=", id).execute();
    await noteErasure(trx, engine, services.auditKey, id);
    // The audit trail keeps who did what and from where; details about the deleted person and their addresses are removed.
    await trx.updateTable("audit").set({ ip: "" }).where("actorId", "=", id).execute();
    await trx
      .updateTable("audit")
      .set({ changes: "{}" })
      .where((e) =>
        e.or([
          // Owners of inspected things still see the inspections.
          e.and([e("actorId", "=", id), e("action", "not in", inspections)]),
          e("ownerId", "=", id),
          e.and([e("resource", "=", "user"), e("resourceId", "=", id)]),
        ]),
      )
      .execute();
    await recordAudit(trx, c, "delete", "user", id);
  });
  await services.files.delete(files.map((file) => file.id));
  await services.storage.delete(jobs.map((job) => job.id));
}

/** Gives what an administrator has made for everybody to another one: the person who deletes, if they administer, or the first. */
async function handOver(trx: Transaction<Tables>, id: string, deleterId: string): Promise<void> {
  const heir = await trx
    .selectFrom("users")
    .where("role", "=", "admin")
    .where("status", "=", "active")
    .where("id", "!=", id)
    .orderBy((e) => e.case().when("id", "=", deleterId).then(0).else(1).end())
    .orderBy("createdAt")
    .select("id")
    .executeTakeFirst();
  if (!heir) return;
  const to = { userId: heir.id };
  await trx.updateTable("assistants").set(to).where("userId", "=", id).where("shared", "=", 1).execute();
  await trx.updateTable("templates").set(to).where("userId", "=", id).where("shared", "=", 1).execute();
  await trx.updateTable("skills").set(to).where("userId", "=", id).where("shared", "=", 1).execute();
}

/** Deletes the invitations of a person, which have their address, and what the audit trail tells of them. */
async function forgetInvitations(trx: Transaction<Tables>, id: string, email: string): Promise<void> {
  const theirs = await trx
    .selectFrom("invitations")
    .where((e) => e.or([e("userId", "=", id), e(e.fn<string>("lower", ["email"]), "=", email.toLowerCase())]))
    .select("id")
    .execute();
  const ids = theirs.map((one) => one.id);
  if (ids.length === 0) return;
  await trx.deleteFrom("invitations").where("id", "in", ids).execute();
  const told = trx.updateTable("audit").set({ changes: "{}" }).where("resource", "=", "invitation");
  await told.where("resourceId", "in", ids).execute();
}
