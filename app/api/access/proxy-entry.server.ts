import { appendAudit } from "../../db/audit/append.server.ts";
import { revokeAccess } from "../../db/people/revoke-access.server.ts";
import type { SessionRow } from "../../db/tables.ts";
import { hashToken } from "../../process/crypto.server.ts";
import { limits } from "../../process/limits.ts";
import { openSession, type Tokens } from "../auth/session-tokens.server.ts";
import type { Services } from "../env.server.ts";
import { accountRow, isFirstAccount, storeAccount } from "../users/new-account.server.ts";

type Device = Pick<SessionRow, "userAgent" | "ip">;

/** Whether a value of the proxy's header can be a person's address. */
export const isAddress = (email: string): boolean =>
  email.length <= limits.email && /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(email);

/**
 * Opens a session for the person that the trusted proxy in front has let in (AUTH_HEADER), with their account or a new one. The proxy
 * vouches for the address. An existing account with a password may be a stranger's, as nobody has verified its address: its password and
 * all other access to it are removed. `email`: passes `isAddress`.
 */
export async function enterByProxy(services: Services, email: string, device: Device): Promise<Tokens> {
  const account = await accountOf(services, email);
  const userId = account?.id ?? (await makeAccount(services, email, device));
  await services.db.transaction().execute(async (trx) => {
    if (account?.passwordHash) {
      await revokeAccess(trx, userId);
      await trx.updateTable("users").set({ passwordHash: "" }).where("id", "=", userId).execute();
      await appendAudit(trx, audited("join", userId, device));
    }
    await appendAudit(trx, audited("signin", userId, device));
  });
  return openSession(services, { userId, ...device }, "proxy");
}

/** Ends a session that the proxy has opened, when the proxy no longer names the person. `refresh`: the session's refresh token. */
export async function endByProxy({ db, changes }: Services, refresh: string): Promise<void> {
  const ended = await db
    .deleteFrom("sessions")
    .where("refreshHash", "=", hashToken(refresh))
    .returning("userId")
    .executeTakeFirst();
  if (ended) changes.tell({ userId: ended.userId, what: "sessions" });
}

const accountOf = ({ db }: Services, email: string) =>
  db.selectFrom("users").where("emailKey", "=", email.toLowerCase()).select(["id", "passwordHash"]).executeTakeFirst();

async function makeAccount(services: Services, email: string, device: Device): Promise<string> {
  const { db, engine, clock } = services;
  const now = clock.now();
  const made = await db.transaction().execute(async (trx) => {
    const role = (await isFirstAccount(trx, engine)) ? "admin" : "user";
    const name = (email.split("@")[0] ?? email).slice(0, limits.name);
    const row = accountRow({ name, email, passwordHash: "", role, status: "active" }, now, { entersNow: true });
    if (!(await storeAccount(trx, row))) return undefined;
    await appendAudit(trx, audited("signup", row.id, device));
    return row.id;
  });
  // When two first requests come at once, the slower one uses the account that the other has made.
  return made ?? (await accountOf(services, email))?.id ?? "";
}

const audited = (action: string, userId: string, { ip }: Device) => ({
  ...{ action, actorId: userId, ownerId: null, resource: "user", resourceId: userId, ip },
  changes: { after: { access: "proxy" } },
});
