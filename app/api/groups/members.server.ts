import { z } from "@hono/zod-openapi";
import { expressionBuilder } from "kysely";
import type { Tables } from "../../db/tables.ts";
import { isAdmin } from "../http/authentication.server.ts";
import { invalid } from "../http/problem.server.ts";
import { everything, type Resource } from "../http/resource.server.ts";
import { id, rowFields, timesOf } from "../http/schemas.server.ts";

const e = expressionBuilder<Tables, "members">();

const fields = { groupId: id, userId: id };
const body = z.strictObject(fields);
const shown = z
  .object({
    ...rowFields,
    ...fields,
    byHand: z
      .boolean()
      .openapi({ description: "Si no, lo dice el proveedor con el que entra, y lo dirá otra vez cuando entre." }),
  })
  .openapi("Member");

/** Memberships of groups. People read their own. */
export const members: Resource<"members", typeof shown, typeof body> = {
  table: "members",
  name: "member",
  shown,
  body,
  show: ({ accessId, ...row }) => ({ ...row, ...timesOf(row), byHand: accessId === null }),
  async columns({ groupId, userId }, { services: { db } }) {
    const group = await db.selectFrom("groups").where("id", "=", groupId).select("id").executeTakeFirst();
    if (!group) throw invalid("groupId", "Ese grupo no existe.");
    const user = await db.selectFrom("users").where("id", "=", userId).select("id").executeTakeFirst();
    if (!user) throw invalid("userId", "Esa persona no existe.");
    return { groupId, userId, accessId: null };
  },
  list: {
    searched: [],
    sortable: [{ number: "createdAt", direction: "desc" }],
    filters: { groupId: "text", userId: "text" },
  },
  searchesPeople: true,
  sees: (person) => (isAdmin(person) ? everything : e("members.userId", "=", person.id)),
  unique: { field: "userId", sentence: "Esa persona ya está en el grupo." },
  ownerOf: async ({ userId }) => userId,
};
