import type { Context } from "hono";
import type { Db, Trx } from "../../db/engine.server.ts";
import { revokeAccess } from "../../db/people/revoke-access.server.ts";
import { newRow } from "../../db/rows.server.ts";
import type { AccessRow, UserRow } from "../../db/tables.ts";
import { encrypt, tryDecrypt } from "../../process/crypto.server.ts";
import { limits } from "../../process/limits.ts";
import { storedJson } from "../../process/text/json.ts";
import { deviceOf } from "../auth/accounts.server.ts";
import { hasAuthenticator } from "../auth/authenticator-codes.server.ts";
import { openSession, type Tokens } from "../auth/session-tokens.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { recordAudit } from "../http/audit.server.ts";
import { Problem } from "../http/problem.server.ts";
import { lockAdmins } from "../users/account-admin.server.ts";
import { accountRow, isFirstAccount, storeAccount } from "../users/new-account.server.ts";
import { domainsIn, isOfDomains } from "./domains.server.ts";
import { namedGroups } from "./group-names.server.ts";

/** Facts that a provider gives about the person who signs in. */
export type Facts = {
  /** The provider's lasting name for the person. */
  subject: string;
  email: string | null;
  /** Null if the provider does not say. */
  emailVerified: boolean | null;
  name: string;
  /** Null if the provider does not say: the groups and the role stay. */
  groups: string[] | null;
  /** Only with OpenID Connect: the provider's id of its session, and the token that ends that session there. */
  providerSession: string | null;
  idToken: string | null;
};

/** Sign-in of a person whose address an account already has: the person proves that account's password once. */
export type Joining = { ticket: string; email: string; needsCode: boolean };

const ticketLives = 10 * 60_000;
const ticketIdentity = (accessId: string) => `join:${accessId}`;

/** Beginning of the subject of an identity whose person has been dropped: the access leads to another provider now. */
export const droppedStart = "dropped:";

/**
 * Signs in a person that a provider vouches for, with the account joined to that identity or with a new account. If an account already
 * has the address, returns what the person needs to join it to the identity. The groups and role follow the provider. Throws 403.
 */
export async function enter(c: Context<ApiEnv>, access: AccessRow, facts: Facts): Promise<Tokens | Joining> {
  const { db } = c.var.services;
  refuseDomain(access, facts);
  const joined = await db
    .selectFrom("identities")
    .where("accessId", "=", access.id)
    .where("subject", "=", facts.subject)
    .select("userId")
    .executeTakeFirst();
  if (joined && !facts.subject.startsWith(droppedStart)) return open(c, access, facts, joined.userId);
  const email = verifiedEmail(access, facts);
  const account = await db
    .selectFrom("users")
    .where("emailKey", "=", email.toLowerCase())
    .select(["id", "passwordHash"])
    .executeTakeFirst();
  if (account) return offerJoining(c, access, facts, account, email);
  return open(c, access, facts, await makeAccount(c, access, facts, email));
}

/**
 * Joins the account and the identity of a ticket, once its password is proven. `claims`: without a password, an account that this access has
 * dropped; whoever may have given it that address loses all access to it. Throws 403 if it has not dropped that account.
 */
export async function join(
  c: Context<ApiEnv>,
  access: AccessRow,
  facts: Facts,
  userId: string,
  { claims = false } = {},
): Promise<Tokens> {
  const now = Date.now();
  await c.var.services.db.transaction().execute(async (trx) => {
    const { numDeletedRows } = await trx
      .deleteFrom("identities")
      .where("userId", "=", userId)
      .where("accessId", "=", access.id)
      .where("subject", "like", `${droppedStart}%`)
      .executeTakeFirst();
    if (claims && numDeletedRows === 0n) throw entersOtherwise(facts.email ?? "");
    if (claims) await revokeAccess(trx, userId);
    const row = { ...newRow(now), userId, accessId: access.id, subject: facts.subject };
    await trx
      .insertInto("identities")
      .values(row)
      .onConflict((conflict) => conflict.columns(["accessId", "subject"]).doNothing())
      .execute();
    await recordAudit(trx, c, "join", "user", userId, { actorId: userId, changes: { after: { access: access.name } } });
  });
  return open(c, access, facts, userId);
}

/** Content of a ticket, if it was made here for this access and has not expired. */
export function readTicket(
  c: Context<ApiEnv>,
  access: AccessRow,
  ticket: string,
): { userId: string; facts: Facts } | undefined {
  const plain = tryDecrypt(ticket, c.var.services.accessKey, ticketIdentity(access.id));
  if (plain === undefined) return undefined;
  const { expires, ...said } = storedJson<{ userId: string; facts: Facts; expires: number }>(plain);
  return expires > c.var.services.clock.now() ? said : undefined;
}

async function offerJoining(
  c: Context<ApiEnv>,
  access: AccessRow,
  facts: Facts,
  account: Pick<UserRow, "id" | "passwordHash">,
  email: string,
): Promise<Tokens | Joining> {
  const { services } = c.var;
  if (!account.passwordHash) {
    if (await claimExpected(services.db, account.id)) return join(c, access, facts, account.id);
    return join(c, access, facts, account.id, { claims: true });
  }
  // The ID token is not carried: with it the ticket would not fit into a cookie.
  const said = { userId: account.id, facts: { ...facts, idToken: null }, expires: services.clock.now() + ticketLives };
  const ticket = encrypt(JSON.stringify(said), services.accessKey, ticketIdentity(access.id));
  return { ticket, email, needsCode: await hasAuthenticator(services.db, account.id) };
}

/**
 * Claims an account that a provider has made by SCIM and that nobody has entered yet, for the person with its address. Only the first
 * claim succeeds.
 */
async function claimExpected(db: Db, userId: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("users")
    .set({ lastSeenAt: Date.now() })
    .where("id", "=", userId)
    .where("lastSeenAt", "is", null)
    .where("status", "=", "active")
    .where("passwordHash", "=", "")
    .where((e) =>
      e.exists(e.selectFrom("provisioned").where("provisioned.userId", "=", userId).select("provisioned.id")),
    )
    .where((e) =>
      e.not(e.exists(e.selectFrom("identities").where("identities.userId", "=", userId).select("identities.id"))),
    )
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

const entersOtherwise = (email: string) =>
  new Problem(403, `Ya hay una cuenta con el correo ${email}, que entra de otra manera. Avisa a quien administra.`);

function refuseDomain({ domains, name }: AccessRow, { email }: Facts): void {
  const allowed = domainsIn(domains);
  if (allowed.length === 0 || isOfDomains(email, allowed)) return;
  throw new Problem(403, `Con «${name}» solo entra quien tiene un correo de ${allowed.join(", ")}.`);
}

/** The address, if the provider vouches for it: anyone may claim an address that the provider has not verified. */
function verifiedEmail({ name, trustsEmail }: AccessRow, { email, emailVerified }: Facts): string {
  if (!email || email.length > limits.email || !/^[^\s@\0]+@[^\s@\0]+$/.test(email)) {
    throw new Problem(
      403,
      `«${name}» no dice tu correo, y sin él no se puede crear una cuenta. Avisa a quien administra.`,
    );
  }
  if (emailVerified ?? trustsEmail === 1) return email;
  const says = emailVerified === false ? "dice que no se ha comprobado" : "no confirma";
  throw new Problem(403, `«${name}» ${says} que el correo ${email} sea tuyo. Avisa a quien administra.`);
}

async function makeAccount(c: Context<ApiEnv>, access: AccessRow, facts: Facts, email: string): Promise<string> {
  const { db, engine } = c.var.services;
  if (access.makesAccounts === 0) {
    throw new Problem(
      403,
      `No hay ninguna cuenta con el correo ${email}. Pide una a quien administra esta instalación.`,
    );
  }
  const now = Date.now();
  return db.transaction().execute(async (trx) => {
    const first = await isFirstAccount(trx, engine);
    const name = facts.name
      .replace(/[\p{Cc}\s]+/gu, " ")
      .trim()
      .slice(0, limits.name)
      .toWellFormed();
    // The first account is no administrator if the provider says who is.
    const role = first && access.adminGroup === null ? "admin" : "user";
    const given = {
      name: name || (email.split("@")[0] ?? email),
      email,
      passwordHash: "",
      role,
      status: "active",
    } as const;
    const row = accountRow(given, now, { entersNow: true });
    // The same person signs in in two tabs, or somebody has signed up with this address at this very moment.
    if (!(await storeAccount(trx, row))) throw new Problem(409, "Esa cuenta se acaba de crear. Entra otra vez.");
    const userId = row.id;
    await trx
      .insertInto("identities")
      .values({ ...newRow(now), userId, accessId: access.id, subject: facts.subject })
      .execute();
    await recordAudit(trx, c, "signup", "user", userId, {
      actorId: userId,
      changes: { after: { access: access.name } },
    });
    return userId;
  });
}

async function open(c: Context<ApiEnv>, access: AccessRow, facts: Facts, userId: string): Promise<Tokens> {
  const { services } = c.var;
  const { db, engine, clock, accessKey, log } = services;
  const { idToken, providerSession } = facts;
  const hours = access.sessionHours;
  const from = {
    accessId: access.id,
    providerSession,
    endsAt: hours === null ? null : clock.now() + hours * 60 * 60_000,
    idTokenFor: (sessionId: string) => idToken && encrypt(idToken, accessKey, sessionId),
  };
  return db.transaction().execute(async (trx) => {
    await lockAdmins(trx, engine);
    if (facts.groups) {
      await followRole(trx, c, access, facts.groups, userId);
      await followGroups(trx, access, facts.groups, userId);
    } else {
      log.warn(
        { access: access.name, userId },
        "el proveedor no ha dicho los grupos de una persona, que se quedan como están",
      );
    }
    const changes = { after: { access: access.name } };
    await recordAudit(trx, c, "signin", "user", userId, { actorId: userId, changes });
    return openSession({ ...services, db: trx }, { userId, ...deviceOf(c) }, from);
  });
}

/** Sets a person's role as the provider says; the last administrator keeps the role. */
async function followRole(
  trx: Trx,
  c: Context<ApiEnv>,
  { adminGroup, kind }: AccessRow,
  groups: string[],
  userId: string,
): Promise<void> {
  if (adminGroup === null) return;
  const role = namedGroups(kind, groups)(adminGroup) ? "admin" : "user";
  const account = await trx.selectFrom("users").where("id", "=", userId).select("role").executeTakeFirstOrThrow();
  if (account.role === role) return;
  const others = trx.selectFrom("users").where("role", "=", "admin").where("status", "=", "active");
  if (role === "user" && !(await others.where("id", "!=", userId).select("id").limit(1).executeTakeFirst())) return;
  await trx.updateTable("users").set({ role, updatedAt: Date.now() }).where("id", "=", userId).execute();
  const changes = { before: { role: account.role }, after: { role } };
  await recordAudit(trx, c, "update", "user", userId, { actorId: null, changes });
}

/** Updates the groups that a provider has put a person into to those that it names now; memberships added by hand stay. */
async function followGroups(trx: Trx, access: AccessRow, groups: string[], userId: string): Promise<void> {
  const isNamed = namedGroups(access.kind, groups);
  const known = await trx.selectFrom("groups").where("claim", "is not", null).select(["id", "claim"]).execute();
  const wanted = new Set(known.filter(({ claim }) => claim && isNamed(claim)).map(({ id }) => id));
  const rows = await trx
    .selectFrom("members")
    .where("userId", "=", userId)
    .select(["id", "groupId", "accessId"])
    .execute();
  const left = rows.filter(({ groupId, accessId }) => accessId === access.id && !wanted.has(groupId));
  for (const { id } of left) await trx.deleteFrom("members").where("id", "=", id).execute();
  const now = Date.now();
  for (const { groupId } of rows) wanted.delete(groupId);
  for (const groupId of wanted) {
    await trx
      .insertInto("members")
      .values({ ...newRow(now), groupId, userId, accessId: access.id })
      .onConflict((conflict) => conflict.columns(["userId", "groupId"]).doNothing())
      .execute();
  }
}
