import { v7 as newId } from "uuid";
import { appendAudit } from "../../db/audit/append.server.ts";
import type { SessionRow, UserRow } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import { beginAccount, isFirstAccount } from "../auth/accounts.server.ts";
import { openSession, type Tokens } from "../auth/session-tokens.server.ts";
import type { Services } from "../env.server.ts";

type Device = Pick<SessionRow, "userAgent" | "ip">;

/** Whether a value of the proxy's header can be a person's address. */
export const isAddress = (email: string): boolean =>
  email.length <= limits.email && /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(email);

/**
 * Opens a session for the person whom the trusted proxy in front has let in (AUTH_HEADER), with their account or a new one. The proxy
 * answers for the address. `email`: as `isAddress` has it.
 */
export async function enterByProxy(services: Services, email: string, device: Device): Promise<Tokens> {
  const userId = (await accountOf(services, email)) ?? (await makeAccount(services, email, device));
  await services.db.transaction().execute((trx) => appendAudit(trx, audited("signin", userId, device)));
  return openSession(services, { userId, ...device });
}

async function accountOf({ db }: Services, email: string): Promise<string | undefined> {
  const found = db.selectFrom("users").where("emailKey", "=", email.toLowerCase()).select("id");
  return (await found.executeTakeFirst())?.id;
}

async function makeAccount(services: Services, email: string, device: Device): Promise<string> {
  const { db, engine, clock } = services;
  const now = clock.now();
  const id = newId();
  const made = await db.transaction().execute(async (trx) => {
    const row: UserRow = {
      ...{ id, createdAt: now, updatedAt: now, email, emailKey: email.toLowerCase(), passwordHash: "" },
      name: (email.split("@")[0] ?? email).slice(0, limits.name),
      role: (await isFirstAccount(trx, engine)) ? "admin" : "user",
      status: "active",
      draft: null,
      lastSeenAt: now,
    };
    const { numInsertedOrUpdatedRows } = await trx
      .insertInto("users")
      .values(row)
      .onConflict((conflict) => conflict.column("emailKey").doNothing())
      .executeTakeFirst();
    if (numInsertedOrUpdatedRows === 0n) return false;
    await beginAccount(trx, id, now);
    await appendAudit(trx, audited("signup", id, device));
    return true;
  });
  // Of two first requests at once, the other one has made it.
  return made ? id : ((await accountOf(services, email)) ?? id);
}

const audited = (action: string, userId: string, { ip }: Device) => ({
  ...{ action, actorId: userId, ownerId: null, resource: "user", resourceId: userId, ip },
  changes: { after: { access: "proxy" } },
});
