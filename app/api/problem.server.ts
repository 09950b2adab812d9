import type { Hook } from "@hono/zod-openapi";
import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { whyUnavailable } from "../db/errors.server.ts";
import { CannotReply } from "../intelligence/cannot-reply.server.ts";
import { LimitReached } from "../intelligence/usage.server.ts";
import { pathInLog } from "../log.server.ts";
import type { ApiEnv } from "./env.server.ts";

/** An answer that is an error (RFC 9457). `detail` is the Spanish sentence for the person, `errors` one per field. */
export class Problem extends Error {
  readonly status: ContentfulStatusCode;
  readonly errors: Record<string, string> | undefined;
  readonly headers: Record<string, string>;
  readonly ticket: string | undefined;
  readonly current: object | undefined;
  constructor(
    status: ContentfulStatusCode,
    detail: string,
    {
      errors,
      headers = {},
      ticket,
      current,
    }: { errors?: Record<string, string>; headers?: Record<string, string>; ticket?: string; current?: object } = {},
  ) {
    super(detail);
    this.status = status;
    this.errors = errors;
    this.headers = headers;
    this.ticket = ticket;
    this.current = current;
  }
}

export type ProblemBody = {
  type: string;
  title: string;
  status: number;
  detail: string;
  errors?: Record<string, string>;
  /** Of a sign-in that needs a code, too: what to send with it. */
  ticket?: string;
  /** Of a change of what has changed meanwhile: how it is now. */
  current?: object;
  requestId: string;
  /** The same as OpenAI's clients look for it. */
  error?: { message: string; type: string; param: string | null; code: string | null };
};

/** What a person may not see answers the same as what is not there, so that ids can't be probed. */
export const notFound = () => new Problem(404, "No existe o no puedes verlo.");

/** One sentence for a field, as 422. */
export const invalid = (field: string, sentence: string) =>
  new Problem(422, sentence, { errors: { [field]: sentence } });

const titles: Record<number, string> = {
  400: "Petición mal formada",
  401: "Sin sesión",
  403: "No permitido",
  404: "No encontrado",
  409: "Conflicto",
  413: "Demasiado grande",
  415: "Tipo no admitido",
  422: "Datos no válidos",
  429: "Demasiadas peticiones",
  502: "El proveedor falla",
  500: "Error del servidor",
  503: "No disponible",
};

/** The one place where an API error becomes an answer; what nobody expected is logged here. */
export function answerError(error: Error, c: Context<ApiEnv>): Response {
  const problem = asProblem(error);
  if (problem.status >= 500) {
    c.var.services.log.error(
      { err: error, requestId: c.var.requestId, path: pathInLog(c.req.path) },
      "error en la API",
    );
  }
  const body: ProblemBody = {
    type: "about:blank",
    title: titles[problem.status] ?? "Error",
    status: problem.status,
    detail: problem.message,
    ...(problem.errors && { errors: problem.errors }),
    ...(problem.ticket && { ticket: problem.ticket }),
    ...(problem.current && { current: problem.current }),
    requestId: c.var.requestId,
    ...(/\/(chat\/completions|models)$/.test(c.req.path) && { error: asOpenAi(problem) }),
  };
  return c.body(JSON.stringify(body), problem.status, {
    "Content-Type": "application/problem+json",
    ...problem.headers,
  });
}

const openAiTypes: Record<number, string> = { 401: "authentication_error", 429: "insufficient_quota" };

function asOpenAi({ status, message, errors = {} }: Problem) {
  const type = openAiTypes[status] ?? (status >= 500 ? "server_error" : "invalid_request_error");
  return { message, type, param: Object.keys(errors)[0] ?? null, code: status === 404 ? "model_not_found" : null };
}

function asProblem(error: Error): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof CannotReply) return invalid(error.field, error.message);
  if (error instanceof LimitReached) {
    const seconds = Math.max(1, Math.ceil((error.resetsAt - Date.now()) / 1000));
    const headers = { "Retry-After": String(seconds), "RateLimit-Remaining": "0", "RateLimit-Reset": String(seconds) };
    return new Problem(429, error.message, { headers });
  }
  if (error instanceof HTTPException && error.status < 500) {
    return new Problem(
      error.status as ContentfulStatusCode,
      "La petición no se entiende: el cuerpo no es JSON válido.",
    );
  }
  const why = whyUnavailable(error);
  if (why) return new Problem(503, unavailable[why], { headers: { "Retry-After": "5" } });
  return new Problem(500, "Algo ha fallado en el servidor. Vuelve a intentarlo.");
}

const unavailable = {
  full: "El disco del servidor está lleno y no se puede guardar nada. Avisa a quien administra.",
  busy: "La base de datos está ocupada. Vuelve a intentarlo en un momento.",
  lost: "La base de datos no contesta. Vuelve a intentarlo en un momento.",
};

/** Turns a failed validation into a 422 with one sentence per field path. */
export const answerInvalid: Hook<unknown, ApiEnv, string, unknown> = (result) => {
  if (result.success) return;
  const errors: Record<string, string> = {};
  for (const issue of result.error.issues) {
    const unknown = issue.code === "unrecognized_keys" ? (issue as { keys?: string[] }).keys?.[0] : undefined;
    const field = [...issue.path, ...(unknown ? [unknown] : [])].join(".");
    if (field) errors[field] ??= issue.message.replace(/(?<![.?])$/, ".");
    else errors.body ??= "El cuerpo tiene que ser un objeto JSON.";
  }
  throw new Problem(422, Object.values(errors)[0] ?? "Hay datos que no son válidos.", { errors });
};
