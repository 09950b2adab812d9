import type { Person, Services } from "./env.server.ts";

/**
 * A signal for what outlasts its request's beginning: it aborts with the request, and once the session it came with has
 * ended or its account is no longer active. Call `leave` when nobody listens any more.
 */
export function whileSignedIn(
  { db, changes, log }: Services,
  { id, sessionId }: Person,
  request: AbortSignal,
): { signal: AbortSignal; leave(): void } {
  const ended = new AbortController();
  const check = async () => {
    const session = db.selectFrom("sessions").where("id", "=", sessionId).select("id");
    const account = db.selectFrom("users").where("id", "=", id).where("status", "=", "active").select("id");
    // What a program reads with its key goes on to the reply's end, as long as the account is active.
    const alive = (sessionId === "" || (await session.executeTakeFirst())) && (await account.executeTakeFirst());
    if (!alive) ended.abort();
  };
  const leave = changes.listen(({ userId, what }) => {
    if (what !== "sessions" || (userId && userId !== id)) return;
    check().catch((error) => log.error({ err: error as Error }, "no se pudo revisar una sesión"));
  });
  return { signal: AbortSignal.any([request, ended.signal]), leave };
}
