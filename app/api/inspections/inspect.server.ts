import type { Context } from "hono";
import { sql } from "kysely";
import { v5 as nameId } from "uuid";
import { appendAudit } from "../../db/audit/append.server.ts";
import { shownTo } from "../../db/people/shared-work.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { Problem } from "../http/problem.server.ts";

/**
 * An inspection: an administrator reads a thing of another person that is not shown to the administrator. ADMIN_READS allows it never,
 * after a purpose is given, or always. Each inspection is a row of the audit trail, one per thing and hour; that row keeps it open.
 */
export const inspectable = ["chat", "file", "project", "backup"] as const;

/** Something that may be inspected. `ownerId`: null for a backup, which is of everybody. */
export type Inspected = { resource: (typeof inspectable)[number]; id: string; ownerId: string | null };

/** How long an inspection is open, in ms. */
export const inspectionLasts = 60 * 60_000;

/** Actions in the audit trail: an inspection that the thing's owner learns of at once, and one that the owner learns of later. */
export const inspections = ["read", "read-untold"] as const;

/** The refusal where ADMIN_READS is `never`. */
export const neverInspected = () =>
  new Problem(403, "En esta instalación, quien administra no lee lo que es de otras personas (ADMIN_READS=never).");

/** Title of a chat without a name, for people who may not read the chat: its stored title is its first words. */
export const unnamed = "Sin título";
export const titleForOthers = sql<string>`case when titled = 1 then title else ${sql.lit(unnamed)} end`;

/** Lets an administrator read a thing, and records it. Throws 403 where ADMIN_READS is `never`, for a program, or without a purpose. */
export async function inspect(c: Context<ApiEnv>, thing: Inspected): Promise<void> {
  const { adminReads } = c.var.services.config;
  if (adminReads === "never") throw neverInspected();
  if ((await underInspection(c, thing.resource, [thing.id])).has(thing.id)) return;
  if (adminReads === "open") return recordAll(c, [thing]);
  if (c.var.person.keyId) {
    throw new Problem(403, "Lo que es de otras personas se lee con la sesión iniciada, no con una clave.");
  }
  throw new Problem(403, "Es de otra persona. Antes de leerlo, di para qué: queda en la auditoría.", {
    headers: { "Asks-Purpose": `${thing.resource}/${encodeURIComponent(thing.id)}` },
  });
}

/**
 * The chats of a list whose texts the person may read. An administrator may read own chats, chats shown to them and chats under
 * inspection, or all chats where ADMIN_READS is `open`, which is recorded. Other people get the whole list.
 */
export async function readableChats(c: Context<ApiEnv>, chatIds: string[]): Promise<ReadonlySet<string>> {
  const { person, services } = c.var;
  const ids = [...new Set(chatIds)];
  if (person.role !== "admin" || ids.length === 0) return new Set(ids);
  const rows = await services.db
    .selectFrom("chats")
    .where("id", "in", ids)
    .select(["id", "userId", (e) => e.and([e("sessionId", "is", null), shownTo(person.id)]).as("isShown")])
    .execute();
  const others = rows.filter(({ userId, isShown }) => userId !== person.id && !isShown);
  const open = await underInspection(
    c,
    "chat",
    others.map(({ id }) => id),
  );
  const closed = others.filter(({ id }) => !open.has(id));
  if (services.config.adminReads === "open") {
    await recordAll(
      c,
      closed.map(({ id, userId }) => ({ resource: "chat", id, ownerId: userId })),
    );
    return new Set(ids);
  }
  return new Set(ids).difference(new Set(closed.map(({ id }) => id)));
}

/** Whether the person may read the texts of a chat now. Records nothing. */
export async function mayReadChat(c: Context<ApiEnv>, chatId: string): Promise<boolean> {
  const { person, services } = c.var;
  if (person.role !== "admin" || services.config.adminReads === "open") return true;
  return (await readableChats(c, [chatId])).has(chatId);
}

/** Whether administrators also search in the texts of others. */
export const searchesOthers = (c: Context<ApiEnv>): boolean => c.var.services.config.adminReads === "open";

/**
 * The things among `ids` whose inspection this administrator began within the last hour, with the time of that beginning in ms. A
 * purpose holds for a session, not for a key.
 */
export async function underInspection(
  c: Context<ApiEnv>,
  resource: Inspected["resource"],
  ids: string[],
): Promise<ReadonlyMap<string, number>> {
  const { person, services } = c.var;
  const { adminReads } = services.config;
  if (ids.length === 0 || adminReads === "never" || (adminReads === "reason" && person.keyId)) return new Map();
  const rows = await services.db
    .selectFrom("audit")
    .where("resource", "=", resource)
    .where("resourceId", "in", ids)
    .where("actorId", "=", person.id)
    .where("action", "in", inspections)
    .where("createdAt", ">", Date.now() - inspectionLasts)
    .orderBy("createdAt")
    .select(["resourceId", "createdAt"])
    .execute();
  return new Map(rows.map(({ resourceId, createdAt }) => [resourceId ?? "", createdAt]));
}

/** Records things that are read without a purpose. The reads of one page run in parallel: the id of the row makes one record of them. */
async function recordAll(c: Context<ApiEnv>, things: Inspected[]): Promise<void> {
  if (things.length === 0) return;
  const { person, services } = c.var;
  const hour = Math.floor(Date.now() / inspectionLasts);
  await services.db.transaction().execute(async (trx) => {
    for (const { resource, id, ownerId } of things) {
      const changes = person.keyId ? { after: { keyId: person.keyId } } : {};
      await appendAudit(trx, {
        id: nameId(`${resource} ${id} ${hour}`, person.id),
        actorId: person.id,
        ownerId,
        action: "read",
        resource,
        resourceId: id,
        changes,
        ip: c.env.ip,
      });
    }
  });
}
