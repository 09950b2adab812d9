import type { Person, Services } from "../env.server.ts";

/**
 * An AbortSignal for long responses: aborts with the request, and when the session or key ends or the account is deactivated.
 * Call `leave` when the response is over.
 */
export function whileSignedIn(
  { db, changes, log }: Services,
  { id, sessionId, keyId }: Person,
  request: AbortSignal,
): { signal: AbortSignal; leave(): void } {
  const ended = new AbortController();
  const check = async () => {
    const came = keyId
      ? db.selectFrom("apiKeys").where("id", "=", keyId).select("id")
      : db.selectFrom("sessions").where("id", "=", sessionId).select("id");
    const account = db.selectFrom("users").where("id", "=", id).where("status", "=", "active").select("id");
    if (!((await came.executeTakeFirst()) && (await account.executeTakeFirst()))) ended.abort();
  };
  const leave = changes.listen(({ userId, what }) => {
    if (what !== "sessions" || (userId && userId !== id)) return;
    check().catch((error) => log.error({ err: error as Error }, "no se pudo revisar una sesión"));
  });
  return { signal: AbortSignal.any([request, ended.signal]), leave };
}
