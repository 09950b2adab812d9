import { UNSAFE_ErrorResponseImpl as ErrorResponse } from "react-router";
import type { ProblemBody } from "../api/http/problem.server.ts";
import { type Context, sessionContext } from "./context.ts";

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
  throw new ApiProblem(await problemIn(response));
}

/** The problem of an error answer. A proxy before an API on another machine answers with a page of its own. */
async function problemIn(response: Answer): Promise<ProblemBody> {
  const body: unknown = await response.json().catch(() => undefined);
  if (isProblem(body)) return body;
  const detail = "El servicio no contesta ahora. Vuelve a intentarlo dentro de un momento.";
  return { type: "about:blank", title: "Service Unavailable", status: 503, detail, requestId: "" };
}

const isProblem = (body: unknown): body is ProblemBody =>
  typeof body === "object" && body !== null && "status" in body && "detail" in body;

/** For `catch`: an error answer with this status means `value`. Throws every other error. */
export const whenStatus =
  <Value>(status: number, value: Value) =>
  (error: unknown): Value => {
    if (error instanceof ApiProblem && error.status === status) return value;
    throw error;
  };

/**
 * The body of an error answer, to be shown on the same page. Throws every other error again, and an answer whose status is in `thrown`: by
 * default the statuses that have a page of their own.
 */
export function refusalIn(error: unknown, thrown: readonly number[] = [401, 404, 500]): ProblemBody {
  if (!(error instanceof ApiProblem) || thrown.includes(error.status)) throw error;
  return error.body;
}

/** Statuses that the next calls of a series would get, too. */
export const everyCall = [401, 429, 500, 502, 503, 507] as const;

/** For `catch`: shows the sentence of an error answer on the next page, until the person closes it. */
export const tellRefusal =
  (context: Context) =>
  (error: unknown): void => {
    const { errors = {}, detail } = refusalIn(error);
    context.get(sessionContext).flash({ type: "error", title: Object.values(errors)[0] ?? detail, duration: 0 });
  };
