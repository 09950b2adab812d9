import { UNSAFE_ErrorResponseImpl as ErrorResponse } from "react-router";
import type { ProblemBody } from "../api/http/problem.server.ts";

/** An error response of the API. If nothing catches it, it becomes the error page with its status. */
export class ApiProblem extends ErrorResponse {
  readonly body: ProblemBody;
  constructor(body: ProblemBody) {
    super(body.status, body.title, { message: body.detail });
    this.body = body;
  }
}

type Answer = Response | { ok: boolean; status: number; json(): Promise<unknown>; text(): Promise<string> };
type Body<A> = A extends { json(): Promise<infer B> } ? B : never;

/** The JSON of an answer. Throws ApiProblem for an error answer. */
export async function read<A extends Answer>(answer: Promise<A>): Promise<Body<A>> {
  const response = await accepted(answer);
  return (await response.json()) as Body<A>;
}

/** Returns a successful response; throws ApiProblem for an error. */
export async function accepted<A extends Answer>(answer: Promise<A>): Promise<A> {
  const response = await answer;
  if (response.ok) return response;
  throw new ApiProblem((await response.json()) as ProblemBody);
}
