import { hc } from "hono/client";
import type { Api } from "../api/api.server.ts";
import type { ProblemBody } from "../api/http/problem.server.ts";

export type Send = (call: Request) => Response | Promise<Response>;

/** The API with the rights of a program's owner: the API's rules and permissions decide whatever a tool does. */
export class OwnApi {
  readonly api: ReturnType<typeof hc<Api>>["api"];
  /** Owner of the program. */
  readonly personId: string;

  constructor(send: Send, authorization: string, personId: string) {
    const call = async (input: RequestInfo | URL, init?: RequestInit) => send(new Request(input, init));
    this.api = hc<Api>("http://api", { fetch: call, headers: { Authorization: authorization } }).api;
    this.personId = personId;
  }
}

/** The API has refused a call; the message is its Spanish sentence. */
export class Refused extends Error {}

type Answer = { ok: boolean; json(): Promise<unknown> };
type Body<A> = A extends { json(): Promise<infer B> } ? B : never;

/** The JSON of an answer. Throws Refused. */
export async function read<A extends Answer>(answer: Promise<A>): Promise<Body<A>> {
  return (await (await accepted(answer)).json()) as Body<A>;
}

/** A successful answer. Throws Refused. */
export async function accepted<A extends Answer>(answer: Promise<A>): Promise<A> {
  const response = await answer;
  if (response.ok) return response;
  const { detail, errors } = (await response.json()) as ProblemBody;
  throw new Refused(errors ? Object.values(errors).join(" ") : detail);
}
