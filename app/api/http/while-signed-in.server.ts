import type { Context } from "hono";
import type { ApiEnv, Person, Services } from "../env.server.ts";
import { findPerson } from "./authentication.server.ts";
import { Problem } from "./problem.server.ts";
import { seeChat } from "./visibility.server.ts";

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
    check().catch((error) => log.error({ err: error }, "no se pudo revisar una sesión"));
  });
  return { signal: AbortSignal.any([request, ended.signal]), leave };
}

// In ms. A chat may stop being shown in many ways, also in another process: this is checked again and again for each of its few readers.
const lookEvery = 1_000;

/** Like `whileSignedIn`, for another person's chat: also aborts once the reader may no longer read it. */
export function whileShown(c: Context<ApiEnv>, chatId: string): { signal: AbortSignal; leave(): void } {
  const { services, person } = c.var;
  const { signal, leave } = whileSignedIn(services, person, c.req.raw.signal);
  const ended = new AbortController();
  let looking = false;
  const look = async () => {
    if (looking) return;
    looking = true;
    try {
      // The person may no longer be an administrator.
      const now = await findPerson(services, person.id);
      if (now) c.set("person", { ...person, role: now.role });
      await seeChat(c, chatId);
    } catch (error) {
      if (error instanceof Problem) ended.abort();
      else services.log.error({ err: error }, "no se pudo revisar quién lee una conversación");
    } finally {
      looking = false;
    }
  };
  const timer = setInterval(() => void look(), lookEvery).unref();
  return {
    signal: AbortSignal.any([signal, ended.signal]),
    leave() {
      clearInterval(timer);
      leave();
    },
  };
}
