import type { Context } from "hono";
import { sql } from "kysely";
import { v7 as newId } from "uuid";
import { z } from "zod";
import type { Db, Trx } from "../../db/engine.server.ts";
import { isTaken } from "../../db/errors.server.ts";
import { newRow } from "../../db/rows.server.ts";
import type { GroupRow, ProvisionedRow } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import { recordOf } from "../../process/text/json.ts";
import type { ApiEnv } from "../env.server.ts";
import { recordAudit } from "../http/audit.server.ts";
import { iso } from "../http/schemas.server.ts";
import { shortPath, type Wanted } from "./filter.server.ts";
import type { PatchOperation } from "./patch.server.ts";
import { noSuchThing, ScimError } from "./scim-error.server.ts";

type Group = GroupRow & Partial<Pick<ProvisionedRow, "externalId">>;
type Member = { id: string; name: string };

export const groupFilters = ["id", "displayname", "externalid", "members", "members.value"] as const;

export const groupsWanted = (db: Db, wanted: Wanted) => {
  const [id, name, externalId] = ["id", "displayname", "externalid"].map((attribute) => wanted.get(attribute));
  const member = wanted.get("members") ?? wanted.get("members.value");
  return db
    .selectFrom("groups")
    .leftJoin("provisioned as p", "p.id", "groups.id")
    .$if(id !== undefined, (query) => query.where("groups.id", "=", id ?? ""))
    .$if(name !== undefined, (query) => query.where(sql`lower("groups"."name")`, "=", name?.toLowerCase() ?? ""))
    .$if(externalId !== undefined, (query) => query.where("p.externalId", "=", externalId ?? ""))
    .$if(member !== undefined, (query) =>
      query.where(
        "groups.id",
        "in",
        db
          .selectFrom("members")
          .where("userId", "=", member ?? "")
          .select("groupId"),
      ),
    )
    .selectAll("groups")
    .select("p.externalId");
};

/** Throws ScimError. */
export const findGroup = (db: Db, id: string): Promise<Group> =>
  groupsWanted(db, new Map([["id", id]])).executeTakeFirstOrThrow(noSuchThing);

/** People of a group, whoever has put them there. */
export const membersOf = (db: Db, groupId: string): Promise<Member[]> =>
  db
    .selectFrom("members")
    .innerJoin("users", "users.id", "members.userId")
    .where("members.groupId", "=", groupId)
    .orderBy("users.id")
    .select(["users.id", "users.name"])
    .execute();

/** Groups of a person. */
export const groupsWith = (db: Db, userId: string): Promise<Member[]> =>
  db
    .selectFrom("members")
    .innerJoin("groups", "groups.id", "members.groupId")
    .where("members.userId", "=", userId)
    .orderBy("groups.id")
    .select(["groups.id", "groups.name"])
    .execute();

/** A group in the form of SCIM's core schema (RFC 7643, 4.2). `base`: address of the service. */
export const showGroup = (row: Group, base: string, members?: Member[]) => ({
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:Group"],
  id: row.id,
  ...(row.externalId != null && { externalId: row.externalId }),
  displayName: row.name,
  ...(members && {
    members: members.map(({ id, name }) => ({ value: id, display: name, $ref: `${base}/Users/${id}` })),
  }),
  meta: {
    resourceType: "Group",
    created: iso(row.createdAt),
    lastModified: iso(row.updatedAt),
    location: `${base}/Groups/${row.id}`,
  },
});

const sent = z.object({
  displayName: z
    .string()
    .transform((name) => name.replace(/[\p{Cc}\s]+/gu, " ").trim())
    .pipe(z.string().min(1).max(limits.name)),
  externalId: z.string().max(255).nullish().catch(undefined),
  members: z.unknown().optional(),
});

function fieldsIn(body: unknown) {
  const read = sent.safeParse(body);
  if (read.success) return read.data;
  throw new ScimError(400, `Falta «displayName», o pasa de ${limits.name} letras.`, "invalidValue");
}

/** Makes a group. Throws ScimError. */
export async function createGroup(c: Context<ApiEnv>, body: unknown): Promise<Group> {
  const { db, clock } = c.var.services;
  const { displayName: name, externalId = null, members } = fieldsIn(body);
  const now = clock.now();
  const id = newId();
  const limitless = { messagesPerDay: null, tokensPerMonth: null, costPerMonth: null, budget: null };
  const row: GroupRow = {
    id,
    createdAt: now,
    updatedAt: now,
    name,
    description: "",
    claim: null,
    ...limitless,
    minors: 0,
  };
  await db
    .transaction()
    .execute(async (trx) => {
      await trx.insertInto("groups").values(row).execute();
      await keepName(trx, id, externalId, now);
      await add(trx, id, idsIn(members), now);
      await recordAudit(trx, c, "create", "group", id, { actorId: null, changes: { after: { name } } });
    })
    .catch(throwConflict);
  return findGroup(db, id);
}

/** Replaces the data of a group by a whole body. Throws ScimError. */
export async function replaceGroup(c: Context<ApiEnv>, id: string, body: unknown): Promise<Group> {
  const { displayName, externalId, members } = fieldsIn(body);
  const changes: PatchOperation[] = [
    { op: "replace", path: "displayName", value: displayName },
    { op: "replace", path: "externalId", value: externalId ?? null },
    { op: "replace", path: "members", value: members ?? [] },
  ];
  return changeGroup(c, id, changes);
}

/** Carries out changes of a group. Throws ScimError. */
export async function changeGroup(c: Context<ApiEnv>, id: string, changes: PatchOperation[]): Promise<Group> {
  const { db, clock } = c.var.services;
  const now = clock.now();
  await db
    .transaction()
    .execute(async (trx) => {
      const before = await findGroup(trx, id);
      await keepName(trx, id, before.externalId ?? null, now);
      for (const { op, path, value } of changes) {
        const attribute = shortPath(path);
        if (attribute === "displayname" && op !== "remove") {
          const { displayName: name } = fieldsIn({ displayName: value });
          await trx.updateTable("groups").set({ name, updatedAt: now }).where("id", "=", id).execute();
        } else if (attribute === "externalid") {
          await keepName(trx, id, typeof value === "string" ? value.slice(0, 255) : null, now);
        } else if (attribute === "members") {
          await changeMembers(trx, id, { op, path, value }, now);
        }
      }
      const told = changes.map(({ op, path }) => `${op} ${path.slice(0, 100)}`).slice(0, 20);
      await recordAudit(trx, c, "update", "group", id, { actorId: null, changes: { after: { changes: told } } });
    })
    .catch(throwConflict);
  return findGroup(db, id);
}

/** Deletes a group, not its people. Throws ScimError. */
export async function removeGroup(c: Context<ApiEnv>, id: string): Promise<void> {
  await c.var.services.db.transaction().execute(async (trx) => {
    const { name } = await findGroup(trx, id);
    await trx.deleteFrom("groups").where("id", "=", id).execute();
    await recordAudit(trx, c, "delete", "group", id, { actorId: null, changes: { before: { name } } });
  });
}

async function changeMembers(
  trx: Trx,
  groupId: string,
  { op, path, value }: PatchOperation,
  now: number,
): Promise<void> {
  // `members[value eq "…"]` names the member to remove; nothing else may stand between the brackets.
  const isChoice = path.includes("[");
  const [, named] = /\[\s*value\s+eq\s+"([^"]*)"\s*\]$/i.exec(path) ?? [];
  if (isChoice && (named === undefined || op !== "remove")) {
    throw new ScimError(400, "De los miembros solo se quita uno por su «value».", "invalidFilter");
  }
  const ids = named === undefined ? idsIn(value) : [named];
  const isAll = op === "replace" || (op === "remove" && !isChoice && value === undefined);
  if (isAll) await trx.deleteFrom("members").where("groupId", "=", groupId).execute();
  if (op !== "remove") return add(trx, groupId, ids, now);
  if (isAll) return;
  for (const some of chunks(ids)) {
    await trx.deleteFrom("members").where("groupId", "=", groupId).where("userId", "in", some).execute();
  }
}

async function add(trx: Trx, groupId: string, ids: string[], now: number): Promise<void> {
  for (const some of chunks(ids)) {
    const found = await trx.selectFrom("users").where("id", "in", some).select("id").execute();
    // Somebody who has been deleted here meanwhile must not keep the others out: directories don't send a refused change again.
    if (found.length === 0) {
      throw new ScimError(400, `No hay ninguna persona «${some[0]?.slice(0, 64)}».`, "invalidValue");
    }
    await trx
      .insertInto("members")
      .values(
        found.map(({ id: userId }) => ({
          ...newRow(now),
          groupId,
          userId,
          accessId: null,
        })),
      )
      .onConflict((conflict) => conflict.columns(["userId", "groupId"]).doNothing())
      .execute();
  }
}

/** Ids of people in a value of `members`: a list, or a single person. Throws ScimError. */
function idsIn(value: unknown): string[] {
  const ids = [value ?? []].flat().map((one) => {
    const id = recordOf(one)?.value ?? one;
    if (typeof id === "string" && id) return id;
    throw new ScimError(400, "Cada miembro lleva el «id» de una persona en «value».", "invalidValue");
  });
  return [...new Set(ids)];
}

// As many as fit into one query of either engine.
const atOnce = 500;
const chunks = (ids: string[]) =>
  Array.from({ length: Math.ceil(ids.length / atOnce) }, (_, n) => ids.slice(n * atOnce, (n + 1) * atOnce));

async function keepName(trx: Trx, id: string, externalId: string | null, now: number): Promise<void> {
  const row = { id, createdAt: now, updatedAt: now, userId: null, groupId: id, userName: null, userNameKey: null };
  await trx
    .insertInto("provisioned")
    .values({ ...row, externalId })
    .onConflict((conflict) => conflict.column("id").doUpdateSet({ externalId, updatedAt: now }))
    .execute();
}

function throwConflict(error: unknown): never {
  if (!isTaken(error)) throw error;
  throw new ScimError(409, "Ya hay un grupo con ese nombre.", "uniqueness");
}
