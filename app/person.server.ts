import type { RouterContextProvider } from "react-router";
import { ApiProblem, read } from "./answers.server.ts";
import type { Client } from "./api/client.server.ts";
import { apiContext, sessionContext } from "./context.ts";

type Context = Readonly<RouterContextProvider>;
export type Person = Awaited<ReturnType<typeof askSession>>;

const asked = new WeakMap<Client, Promise<Person | null>>();

/** Who has signed in, asked of the API once a request; null for a visitor or an ended session. */
export function getPerson(context: Context): Promise<Person | null> {
  const api = context.get(apiContext);
  let person = asked.get(api);
  if (!person) {
    person = context.get(sessionContext).signedIn ? askSession(api).catch(nobody) : Promise.resolve(null);
    asked.set(api, person);
  }
  return person;
}

const askSession = (api: Client) => read(api.auth.session.$get());

function nobody(error: unknown): null {
  if (error instanceof ApiProblem && error.status === 401) return null;
  throw error;
}

/** The person of a guarded route. */
export async function currentPerson(context: Context): Promise<Person> {
  const person = await getPerson(context);
  if (!person) throw new Error("a guarded route was reached without a person");
  return person;
}
