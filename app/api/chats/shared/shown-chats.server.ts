import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { shownByGroup } from "../../../db/people/shared-work.server.ts";
import { newRow } from "../../../db/rows.server.ts";
import { limits } from "../../../process/limits.ts";
import type { ApiEnv } from "../../env.server.ts";
import { auditOthers } from "../../http/audit.server.ts";
import { active, isAdmin, noProgram, signedIn } from "../../http/authentication.server.ts";
import { answerInvalid, invalid, notFound } from "../../http/problem.server.ts";
import { publishes } from "../../http/publish-change.server.ts";
import { answers, bearer, id, idParam, iso, takes } from "../../http/schemas.server.ts";
import { findChat } from "../../http/visibility.server.ts";

const shown = z
  .object({ id: z.string(), title: z.string(), lastMessageAt: z.string(), ownerName: z.string() })
  .openapi("ShownChat");
const group = z.object({ id: z.string(), name: z.string(), shown: z.boolean() });
const common = { security: bearer, middleware: [signedIn, active, publishes("chat")] };
/** Only a person with a session, and no program, changes other people's rights. */
const changes = { security: bearer, middleware: [signedIn, noProgram, active, publishes("chat")] };

/** Chats that other people show to the person's groups, and the groups to which the person shows a chat of their own. */
export const shownChats = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(
    createRoute({
      method: "get",
      path: "/shown",
      ...common,
      responses: {
        200: answers(
          z.object({ items: z.array(shown) }),
          "Lo que otras personas enseñan a tus grupos, lo último primero.",
        ),
      },
    }),
    async (c) => {
      const { person, services } = c.var;
      const rows = await services.db
        .selectFrom("chats")
        .innerJoin("users", "users.id", "chats.userId")
        .where("chats.userId", "!=", person.id)
        .where(shownByGroup(person.id))
        .orderBy("chats.lastMessageAt", "desc")
        .limit(limits.listMax)
        .select(["chats.id", "chats.title", "chats.lastMessageAt", "users.name as ownerName"])
        .execute();
      return c.json({ items: rows.map((row) => ({ ...row, lastMessageAt: iso(row.lastMessageAt) })) }, 200);
    },
  )
  .openapi(
    createRoute({
      method: "get",
      path: "/{id}/groups",
      ...common,
      request: { params: idParam },
      responses: { 200: answers(z.object({ items: z.array(group) }), "A qué grupos tuyos se enseña.") },
    }),
    async (c) => {
      const { person, services } = c.var;
      const chat = await findChat(services, person, c.req.valid("param").id);
      const rows = await services.db
        .selectFrom("groups")
        .leftJoin("shownChats as s", (join) => join.onRef("s.groupId", "=", "groups.id").on("s.chatId", "=", chat.id))
        .where((e) =>
          e.or([
            e("s.id", "is not", null),
            e("groups.id", "in", e.selectFrom("members").where("userId", "=", chat.userId).select("groupId")),
          ]),
        )
        .orderBy("groups.name")
        .select(["groups.id", "groups.name", "s.id as shownId"])
        .execute();
      return c.json({ items: rows.map((row) => ({ id: row.id, name: row.name, shown: row.shownId !== null })) }, 200);
    },
  )
  .openapi(
    createRoute({
      method: "put",
      path: "/{id}/groups",
      ...changes,
      request: {
        params: idParam,
        body: takes(z.strictObject({ groupIds: z.array(id).max(limits.listMax, "Son demasiados grupos.") })),
      },
      responses: { 204: { description: "Se enseña a estos grupos y a ninguno más." } },
    }),
    async (c) => {
      const { person, services } = c.var;
      const chat = await findChat(services, person, c.req.valid("param").id);
      const groupIds = [...new Set(c.req.valid("json").groupIds)];
      // An admin may take back what somebody shows; only who wrote it shows it.
      if (chat.userId !== person.id && !(isAdmin(person) && groupIds.length === 0)) throw notFound();
      if (chat.sessionId) throw invalid("groupIds", "Una conversación temporal no se enseña: se borra con la sesión.");
      await services.db.transaction().execute(async (trx) => {
        const own = await trx
          .selectFrom("members")
          .where("userId", "=", chat.userId)
          .where("groupId", "in", [...groupIds, ""])
          .select("groupId")
          .execute();
        const foreign = groupIds.find((one) => !own.some(({ groupId }) => groupId === one));
        if (foreign) throw invalid("groupIds", "Solo se enseña a grupos en los que estás.");
        await trx.deleteFrom("shownChats").where("chatId", "=", chat.id).execute();
        const now = Date.now();
        const rows = groupIds.map((groupId) => ({
          ...newRow(now),
          chatId: chat.id,
          groupId,
        }));
        if (rows.length > 0) await trx.insertInto("shownChats").values(rows).execute();
        await auditOthers(trx, c, chat.userId, "update", "chat", chat.id, { after: { groupIds } });
      });
      return c.body(null, 204);
    },
  );
