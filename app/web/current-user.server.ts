import type { Client } from "./api-client.server.ts";
import { read, whenStatus } from "./api-result.server.ts";
import { apiContext, type Context, sessionContext } from "./context.ts";

export type CurrentUser = Awaited<ReturnType<typeof askSession>>;

const people = new WeakMap<Client, Promise<CurrentUser | null>>();

/** The current person, fetched from the API once per request; null for visitors and ended sessions. */
export function getCurrentUser(context: Context): Promise<CurrentUser | null> {
  const api = context.get(apiContext);
  let person = people.get(api);
  if (!person) {
    person = context.get(sessionContext).signedIn
      ? askSession(api).catch(whenStatus(401, null))
      : Promise.resolve(null);
    people.set(api, person);
  }
  return person;
}

const askSession = (api: Client) => read(api.auth.session.$get());

/** Whether the API lets a person work: the account is active, and the person owes neither terms nor a second step. */
export const mayWork = ({ user, owesTerms, owesSecondStep }: CurrentUser): boolean =>
  user.status === "active" && !owesTerms && !owesSecondStep;

/** The current person of a route behind `requireAuth`. */
export async function requireUser(context: Context): Promise<CurrentUser> {
  const person = await getCurrentUser(context);
  if (!person) throw new Error("a guarded route was reached without a person");
  return person;
}
