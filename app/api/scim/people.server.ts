import type { Context } from "hono";
import { z } from "zod";
import type { Db, Trx } from "../../db/engine.server.ts";
import { isTaken } from "../../db/errors.server.ts";
import type { ProvisionedRow, UserRow } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import { listOf, recordOf } from "../../process/text/json.ts";
import { isAddress } from "../access/proxy-entry.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { recordAudit } from "../http/audit.server.ts";
import { iso } from "../http/schemas.server.ts";
import { stopReplies } from "../http/visibility.server.ts";
import { lockAdmins, refuseLastAdmin, shutOut } from "../users/account-admin.server.ts";
import { accountRow, storeAccount } from "../users/new-account.server.ts";
import { shortPath, type Wanted } from "./filter.server.ts";
import { flagIn, type PatchOperation } from "./patch.server.ts";
import { noSuchThing, ScimError } from "./scim-error.server.ts";

/** An account as its provider knows it. */
type Person = UserRow & Partial<Pick<ProvisionedRow, "externalId" | "userName">>;
type Fields = { userName: string; externalId: string | null; email: string; name: string; active: boolean };

export const personFilters = ["id", "username", "externalid", "emails.value", "emails", "active"] as const;

/** Accounts that a provider sees: all except accounts that it has deleted, which stay here and are closed. */
export const peopleWanted = (db: Db, wanted: Wanted) => {
  const [id, userName, externalId] = ["id", "username", "externalid"].map((name) => wanted.get(name));
  const address = wanted.get("emails.value") ?? wanted.get("emails");
  const active = wanted.get("active");
  const key = userName?.toLowerCase() ?? "";
  return db
    .selectFrom("users")
    .leftJoin("provisioned as p", "p.id", "users.id")
    .where((e) => e.or([e("users.status", "=", "active"), e("p.id", "is not", null)]))
    .$if(id !== undefined, (query) => query.where("users.id", "=", id ?? ""))
    .$if(externalId !== undefined, (query) => query.where("p.externalId", "=", externalId ?? ""))
    .$if(address !== undefined, (query) => query.where("users.emailKey", "=", address?.toLowerCase() ?? ""))
    .$if(active !== undefined, (query) => query.where("users.status", "=", active === "true" ? "active" : "inactive"))
    .$if(userName !== undefined, (query) =>
      query.where((e) =>
        e.or([e("p.userNameKey", "=", key), e.and([e("p.userName", "is", null), e("users.emailKey", "=", key)])]),
      ),
    )
    .selectAll("users")
    .select(["p.externalId", "p.userName"]);
};

/** Throws ScimError. */
export async function findPerson(db: Db, id: string): Promise<Person> {
  return peopleWanted(db, new Map([["id", id]])).executeTakeFirstOrThrow(noSuchThing);
}

/** An account in the form of SCIM's core schema (RFC 7643, 4.1). `base`: address of the service. */
export const showPerson = (row: Person, base: string, groups?: { id: string; name: string }[]) => ({
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
  id: row.id,
  ...(row.externalId != null && { externalId: row.externalId }),
  userName: row.userName ?? row.email,
  name: { formatted: row.name },
  displayName: row.name,
  emails: [{ value: row.email, type: "work", primary: true }],
  active: row.status === "active",
  ...(groups && { groups: groups.map(({ id, name }) => ({ value: id, display: name })) }),
  meta: {
    resourceType: "User",
    created: iso(row.createdAt),
    lastModified: iso(row.updatedAt),
    location: `${base}/Users/${row.id}`,
  },
});

/** Makes an account. Throws ScimError. */
export async function createPerson(c: Context<ApiEnv>, body: unknown): Promise<Person> {
  const { db, clock } = c.var.services;
  const fields = fieldsIn(body, undefined);
  const left = await db
    .selectFrom("users")
    .leftJoin("provisioned as p", "p.id", "users.id")
    .where("users.emailKey", "=", fields.email.toLowerCase())
    .where("users.status", "=", "inactive")
    .where("users.passwordHash", "=", "")
    .where("p.id", "is", null)
    .select("users.id")
    .executeTakeFirst();
  // The provider deleted this account before; it stayed here, closed.
  if (left) {
    await db.transaction().execute((trx) => keepNames(trx, left.id, fields, clock.now()));
    return changePerson(c, left.id, { body: { ...recordOf(body), active: fields.active } });
  }
  const now = clock.now();
  const { name, email, active } = fields;
  const status = active ? "active" : "inactive";
  const row = accountRow({ name, email, passwordHash: "", role: "user", status }, now, { entersNow: false });
  const { id } = row;
  await db
    .transaction()
    .execute(async (trx) => {
      await refuseTakenName(trx, id, fields.userName);
      if (!(await storeAccount(trx, row))) throw sameAddress();
      await keepNames(trx, id, fields, now);
      const changes = { after: { name: row.name, email: row.email, status: row.status } };
      await recordAudit(trx, c, "create", "user", id, { actorId: null, changes });
    })
    .catch(throwConflict);
  return findPerson(db, id);
}

/** Replaces the data of an account by a whole body, or applies changes to the account. Throws ScimError. */
export async function changePerson(
  c: Context<ApiEnv>,
  id: string,
  given: { body: unknown } | { changes: PatchOperation[] },
) {
  const { services } = c.var;
  const { db, engine, clock } = services;
  const now = clock.now();
  const isClosed = await db
    .transaction()
    .execute(async (trx) => {
      await lockAdmins(trx, engine);
      const before = await findPerson(trx, id);
      const fields = fieldsIn("body" in given ? given.body : patched(before, given.changes), before);
      const status = fields.active ? ("active" as const) : ("inactive" as const);
      const after = { name: fields.name, email: fields.email, status };
      await refuseTakenName(trx, id, fields.userName);
      await keepNames(trx, id, fields, now);
      const ids = { userName: before.userName ?? null, externalId: before.externalId ?? null };
      const { userName, externalId } = fields;
      const isSame = before.name === after.name && before.email === after.email && before.status === status;
      if (isSame && ids.userName === userName && ids.externalId === externalId) return false;
      if (before.email !== after.email) refuseAddress(c, before);
      if (status === "inactive") await refuseLastAdmin(trx, before);
      const change = { ...after, emailKey: after.email.toLowerCase(), updatedAt: now };
      await trx.updateTable("users").set(change).where("id", "=", id).execute();
      if (status === "inactive") await shutOut(trx, id);
      const changes = {
        before: { name: before.name, email: before.email, status: before.status, ...ids },
        after: { ...after, userName, externalId },
      };
      await recordAudit(trx, c, "update", "user", id, { actorId: null, ownerId: id, changes });
      return status === "inactive";
    })
    .catch(throwConflict);
  if (isClosed) await stopReplies(services, { userId: id });
  return findPerson(db, id);
}

/** Closes an account that its provider has deleted; what is in it stays until somebody here deletes it. Throws ScimError. */
export async function removePerson(c: Context<ApiEnv>, id: string): Promise<void> {
  await changePerson(c, id, { changes: [{ op: "replace", path: "active", value: false }] });
  await c.var.services.db.transaction().execute(async (trx) => {
    await trx.deleteFrom("provisioned").where("id", "=", id).execute();
    await recordAudit(trx, c, "delete", "user", id, {
      actorId: null,
      ownerId: id,
      changes: { after: { access: "scim" } },
    });
  });
}

/** Throws ScimError if an account has a password, administers, or ADMIN_READS is `never`: people change its address here. */
function refuseAddress(c: Context<ApiEnv>, { passwordHash, role }: Person): void {
  const { adminReads } = c.var.services.config;
  if (!passwordHash && role !== "admin" && adminReads !== "never") return;
  throw new ScimError(
    400,
    "El correo de esa cuenta se cambia aquí: tiene contraseña, administra, o nadie lo cambia por otra persona.",
    "mutability",
  );
}

const text = z.string().trim().max(1_000).optional().catch(undefined);
const sent = z.object({
  userName: z.string().trim().min(1).max(limits.email),
  externalId: z.string().max(255).nullish().catch(undefined),
  displayName: text,
  name: z.object({ formatted: text, givenName: text, familyName: text }).optional().catch(undefined),
  emails: z.unknown().optional(),
  active: z.unknown().optional(),
});

/** Fields that a body gives an account; a name or an address that it leaves out stays. Throws ScimError. */
function fieldsIn(body: unknown, before: Person | undefined): Fields {
  const read = sent.safeParse(body);
  if (!read.success) throw new ScimError(400, "Falta «userName», o es demasiado largo.", "invalidValue");
  const { userName, externalId = before?.externalId, displayName, name = {}, emails, active } = read.data;
  const email = [addressIn(emails), before?.email, userName].find(
    (one): one is string => typeof one === "string" && isAddress(one),
  );
  if (!email) throw new ScimError(400, "Falta el correo: ni «emails» ni «userName» lo son.", "invalidValue");
  const whole = [name.givenName, name.familyName].filter(Boolean).join(" ");
  const called = [displayName, name.formatted, whole, before?.name, email.split("@")[0]]
    .map((one) => one?.replace(/[\p{Cc}\s]+/gu, " ").trim())
    .find(Boolean);
  return {
    userName,
    externalId: externalId ?? null,
    email,
    name: (called ?? email).slice(0, limits.name).toWellFormed(),
    active: active === undefined ? before?.status !== "inactive" : activeIn(active),
  };
}

/** A person's work address in `emails`: the primary one, else the first one of type work or without a type. */
function addressIn(emails: unknown): unknown {
  const listed = listOf(emails)
    .map(recordOf)
    .filter((one) => one !== undefined);
  const ofWork = listed.filter(({ type }) => type === undefined || /^work$/i.test(String(type)));
  return (listed.find(({ primary }) => flagIn(primary)) ?? ofWork[0])?.value;
}

/** An account as a body, after some changes. Attributes that are not kept here change nothing. */
function patched(before: Person, changes: PatchOperation[]): unknown {
  const body: Record<string, unknown> = {
    userName: before.userName ?? before.email,
    externalId: before.externalId,
    active: before.status === "active",
    emails: [{ value: before.email }],
  };
  const names: Record<string, unknown> = {};
  const assign = new Map<string, (value: unknown) => unknown>([
    ["username", (value) => Object.assign(body, { userName: value })],
    ["externalid", (value) => Object.assign(body, { externalId: value ?? null })],
    ["active", (value) => Object.assign(body, { active: activeIn(value) })],
    ["displayname", (value) => Object.assign(body, { displayName: value })],
    ["name", (value) => Object.assign(names, recordOf(value))],
    ["name.formatted", (value) => Object.assign(names, { formatted: value })],
    ["name.givenname", (value) => Object.assign(names, { givenName: value })],
    ["name.familyname", (value) => Object.assign(names, { familyName: value })],
    ["emails", (value) => Object.assign(body, { emails: listOf(value) })],
    ["emails.value", (value) => Object.assign(body, { emails: [{ value }] })],
  ]);
  for (const { op, path, value } of changes) {
    // A private address must not be used for signing in.
    const isOther = /^emails\[/i.test(path) && !/\[\s*(?:type\s+eq\s+"work"|primary\s+eq\s+true)\s*\]/i.test(path);
    // The only one that may be missing.
    if (op === "remove" && path.toLowerCase() === "externalid") body.externalId = null;
    if (op === "remove" || isOther) continue;
    const isWhole = /^emails\[[^\]]*\]$/i.test(path);
    assign.get(isWhole ? "emails.value" : shortPath(path))?.(isWhole ? recordOf(value)?.value : value);
  }
  // Half a name alone does not change the name.
  const isWhole = Boolean(names.formatted || (names.givenName && names.familyName));
  return { ...body, ...(isWhole && { name: names }) };
}

function activeIn(value: unknown): boolean {
  const active = flagIn(value);
  if (active === undefined) throw new ScimError(400, "«active» es true o false.", "invalidValue");
  return active;
}

async function keepNames(trx: Trx, id: string, { userName, externalId }: Fields, now: number): Promise<void> {
  const names = { externalId, userName, userNameKey: userName.toLowerCase(), updatedAt: now };
  await trx
    .insertInto("provisioned")
    .values({ id, createdAt: now, userId: id, groupId: null, ...names })
    .onConflict((conflict) => conflict.column("id").doUpdateSet(names))
    .execute();
}

async function refuseTakenName(trx: Trx, id: string, userName: string): Promise<void> {
  const others = peopleWanted(trx, new Map([["username", userName]])).where("users.id", "!=", id);
  if (await others.limit(1).executeTakeFirst()) {
    throw new ScimError(409, "Ese «userName» ya es de otra cuenta.", "uniqueness");
  }
}

/** Turns the error about an address of another account into a ScimError. */
const sameAddress = () => new ScimError(409, "Ese correo ya lo usa otra cuenta.", "uniqueness");

function throwConflict(error: unknown): never {
  throw isTaken(error) ? sameAddress() : error;
}
