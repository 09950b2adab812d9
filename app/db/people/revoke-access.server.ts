import type { Trx } from "../engine.server.ts";

/** Ends a person's sessions except one. Sessions of guests in the person's rooms stay: they give no access to the account. */
export async function revokeSessions(trx: Trx, userId: string, except: string): Promise<void> {
  await trx
    .deleteFrom("sessions")
    .where("userId", "=", userId)
    .where("roomId", "is", null)
    .where("id", "!=", except)
    .execute();
}

/**
 * Revokes everything that gives access to an account: its sessions (except the session with the id `except`), its API keys, its passkeys, its
 * password reset links and the address of its feed. Pass the transaction of the change that makes it necessary, so that nobody slips in between.
 */
export async function revokeAccess(trx: Trx, userId: string, { except = "" } = {}): Promise<void> {
  await revokeSessions(trx, userId, except);
  await trx.deleteFrom("apiKeys").where("userId", "=", userId).execute();
  await trx.deleteFrom("passkeys").where("userId", "=", userId).execute();
  await trx.deleteFrom("replyFeeds").where("userId", "=", userId).execute();
  await trx.deleteFrom("passwordResets").where("userId", "=", userId).execute();
}
