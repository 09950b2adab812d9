import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { expressionBuilder } from "kysely";
import type { Db } from "../../db/engine.server.ts";
import { forGroupsOf } from "../../db/people/groups.server.ts";
import { prepared } from "../../db/prepared.server.ts";
import { newRow } from "../../db/rows.server.ts";
import type { Tables } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import type { ApiEnv } from "../env.server.ts";
import { checkGroupIds, groupIds, parseGroupIds, shownGroupIds } from "../groups/group-ids.server.ts";
import { active, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, notFound } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { onlyAdmins, type Resource } from "../http/resource.server.ts";
import { bearer, idParam, isoOrNull, rowFields, text, timesOf } from "../http/schemas.server.ts";

const e = expressionBuilder<Tables, "notices">();

const fields = {
  text: text("El texto", limits.notice, 1),
  endsAt: z
    .string("El final tiene que ser una fecha.")
    .refine((value) => !Number.isNaN(Date.parse(value)), "El final tiene que ser una fecha.")
    .nullable()
    .default(null)
    .openapi({ description: "Hasta cuándo se enseña; null: hasta que se elimine." }),
  groupIds,
};
const body = z.strictObject(fields);
const shown = z.object({ ...rowFields, ...fields, groupIds: shownGroupIds }).openapi("Notice");

/** Notices of the house: on every page of its people, until each has read them. */
export const notices: Resource<"notices", typeof shown, typeof body> = {
  table: "notices",
  name: "notice",
  byPrograms: true,
  shown,
  body,
  show: ({ userId: _, ...row }) => ({
    ...row,
    ...timesOf(row),
    endsAt: isoOrNull(row.endsAt),
    groupIds: parseGroupIds(row),
  }),
  sees: onlyAdmins(e("notices.userId", "is", null)),
  async columns(given, { services, before }) {
    await checkGroupIds(services.db, given.groupIds, before && parseGroupIds(before));
    return { ...given, userId: null, endsAt: given.endsAt === null ? null : Date.parse(given.endsAt) };
  },
  // A changed text has been read by nobody.
  async inTransaction(trx, row) {
    await trx.deleteFrom("noticesRead").where("noticeId", "=", row.id).execute();
  },
  list: {
    searched: ["text"],
    sortable: [{ number: "createdAt", direction: "desc" }],
    filters: {},
  },
};

/** The notices that a person has not read yet, the newest first. */
export async function unreadNotices(db: Db, userId: string): Promise<{ id: string; text: string }[]> {
  return (await findUnread(db, { userId, now: Date.now() })).rows;
}

const findUnread = prepared((db, { userId, now }: { userId: string; now: number }) =>
  db
    .selectFrom("notices")
    .where((e) => e.or([e("endsAt", "is", null), e("endsAt", ">", now)]))
    .where(forGroupsOf("notices", userId))
    .where((e) => e.or([e("userId", "is", null), e("userId", "=", userId)]))
    .where((e) =>
      e.not(
        e.exists(
          e
            .selectFrom("noticesRead")
            .whereRef("noticesRead.noticeId", "=", "notices.id")
            .where("noticesRead.userId", "=", userId)
            .select("noticesRead.id"),
        ),
      ),
    )
    .orderBy("createdAt", "desc")
    .limit(limits.noticesShown)
    .select(["id", "text"]),
);

/** A person says that they have read a notice. */
export const readings = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(
  createRoute({
    method: "post",
    path: "/{id}/read",
    security: bearer,
    middleware: [signedIn, active, publishes("notice")],
    request: { params: idParam },
    responses: { 204: { description: "No se le enseña más." } },
  }),
  async (c) => {
    const { person, services } = c.var;
    const noticeId = c.req.valid("param").id;
    await services.db
      .selectFrom("notices")
      .where("id", "=", noticeId)
      .where(forGroupsOf("notices", person.id))
      .where((e) => e.or([e("userId", "is", null), e("userId", "=", person.id)]))
      .select("id")
      .executeTakeFirstOrThrow(notFound);
    const now = Date.now();
    await services.db
      .insertInto("noticesRead")
      .values({ ...newRow(now), noticeId, userId: person.id })
      .onConflict((conflict) => conflict.columns(["userId", "noticeId"]).doNothing())
      .execute();
    return c.body(null, 204);
  },
);
