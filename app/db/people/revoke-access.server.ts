import type { Trx } from "../engine.server.ts";

/**
 * Revokes everything that gives access to an account: its sessions (except the session with the id `except`), its API keys, its passkeys, its
 * password reset links and the address of its feed. Pass the transaction of the change that makes it necessary, so that nobody slips in between.
 */
export async function revokeAccess(trx: Trx, userId: string, { except = "" } = {}): Promise<void> {
  await trx.deleteFrom("sessions").where("userId", "=", userId).where("id", "!=", except).execute();
  await trx.deleteFrom("apiKeys").where("userId", "=", userId).execute();
  await trx.deleteFrom("passkeys").where("userId", "=", userId).execute();
  await trx.deleteFrom("replyFeeds").where("userId", "=", userId).execute();
  await trx.deleteFrom("passwordResets").where("userId", "=", userId).execute();
}
