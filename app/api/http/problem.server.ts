import type { Hook, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { whyUnavailable } from "../../db/errors.server.ts";
import { StorageUnavailable } from "../../files/storage/storage.server.ts";
import { BodyRefused } from "../../http/bounded-body.server.ts";
import { pathInLog } from "../../process/log.server.ts";
import { knownZone, momentInWords } from "../../process/time-zones.server.ts";
import { CannotReply } from "../../replies/cannot-reply.server.ts";
import { TakenBack } from "../../replies/queue.server.ts";
import { LimitReached } from "../../replies/usage.server.ts";
import type { ApiEnv } from "../env.server.ts";

/** An answer that is an error (RFC 9457). `detail` is the Spanish sentence for the person, `errors` one per field. */
export class Problem extends Error {
  readonly status: ContentfulStatusCode;
  readonly errors: Record<string, string> | undefined;
  readonly headers: Record<string, string>;
  readonly ticket: string | undefined;
  readonly current: object | undefined;
  /** OpenAI's error code, if its clients react to one. */
  readonly code: string | undefined;
  constructor(
    status: ContentfulStatusCode,
    detail: string,
    {
      errors,
      headers = {},
      ticket,
      current,
      code,
    }: {
      errors?: Record<string, string>;
      headers?: Record<string, string>;
      ticket?: string;
      current?: object;
      code?: string;
    } = {},
  ) {
    super(detail);
    this.status = status;
    this.errors = errors;
    this.headers = headers;
    this.ticket = ticket;
    this.current = current;
    this.code = code;
  }
}

export type ProblemBody = {
  type: string;
  title: string;
  status: number;
  detail: string;
  errors?: Record<string, string>;
  /** For a sign-in that also needs a code: the ticket to send with it. */
  ticket?: string;
  /** For an edit conflict: the current version. */
  current?: object;
  requestId: string;
  /** Only for routes of others' APIs: the error in their form; Ollama's is the sentence. */
  error?: string | { message: string; type: string; param?: string | null; code?: string | null; details?: object };
};

/**
 * The same answer for things that do not exist and things that the person may not see, so that ids can't be probed. An arrow
 * function, so that Kysely's `executeTakeFirstOrThrow` calls it: anything with a prototype is constructed.
 */
export const notFound = () => new Problem(404, "No existe o no puedes verlo.");

/** A 422 with one sentence for one field. */
export const invalid = (field: string, sentence: string) =>
  new Problem(422, sentence, { errors: { [field]: sentence } });

const titles: Record<number, string> = {
  400: "Petición mal formada",
  401: "Sin sesión",
  403: "No permitido",
  404: "No encontrado",
  405: "Método no admitido",
  408: "Demasiado lenta",
  409: "Conflicto",
  413: "Demasiado grande",
  415: "Tipo no admitido",
  422: "Datos no válidos",
  424: "El proveedor no lo admite",
  429: "Demasiadas peticiones",
  502: "El proveedor falla",
  500: "Error del servidor",
  503: "No disponible",
  504: "El proveedor tarda",
};

/** The one place where errors of the API become responses. Unexpected ones are logged. */
export function answerError(error: Error, c: Context<ApiEnv>): Response {
  // The client has left, for example during an upload: nobody reads the response, and nothing failed here.
  const problem = c.req.raw.signal.aborted ? new Problem(400, "Quien preguntaba se ha ido.") : asProblem(error, c);
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
    ...(c.var.errorsOf === "openai" && { error: asOpenAi(problem) }),
    ...(c.var.errorsOf === "anthropic" && { ...asAnthropic(problem), request_id: c.var.requestId }),
    ...(c.var.errorsOf === "ollama" && { error: problem.message }),
  };
  return c.body(JSON.stringify(body), problem.status, {
    // Ollama's clients read the sentence only in plain JSON.
    "Content-Type": c.var.errorsOf === "ollama" ? "application/json" : "application/problem+json",
    // Anthropic's and OpenAI's clients would sleep as long as they are told to, which may be days.
    ...(Number(problem.headers["Retry-After"]) > waitAtMost && { "X-Should-Retry": "false" }),
    ...problem.headers,
  });
}

// In seconds: programs are to try again by themselves after no longer wait.
const waitAtMost = 60;

const openAiTypes: Record<number, string> = { 401: "authentication_error", 429: "rate_limit_error" };

const openAiCodes: Record<number, string> = { 401: "invalid_api_key", 429: "rate_limit_exceeded" };

/** An error in OpenAI's form. Its clients give up at a used-up plan, and wait at other limits for as long as the message says. */
export function asOpenAi({ status, message, errors = {}, code, headers }: Problem) {
  const isOfPlan = code === "insufficient_quota";
  const type = isOfPlan ? code : (openAiTypes[status] ?? (status >= 500 ? "server_error" : "invalid_request_error"));
  const wait = status === 429 && !isOfPlan ? headers["Retry-After"] : undefined;
  // LangChain knows a prompt that is too long by its code in the message.
  const note = code === "context_length_exceeded" ? code : wait && `try again in ${wait}s`;
  return {
    message: note ? `${message} (${note})` : message,
    type,
    param: Object.keys(errors)[0] ?? null,
    code: code ?? openAiCodes[status] ?? null,
  };
}

const anthropicTypes: Record<number, string> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
};

/** An error in Anthropic's form. Anthropic's clients decide by its type whether to try again. */
export function asAnthropic({ status, message, code, errors = {} }: Problem) {
  const type = anthropicTypes[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
  // Claude Code shortens the conversation at these words alone.
  const said = code === "context_length_exceeded" ? `${message} (prompt is too long)` : message;
  // Anthropic's clients send the whole conversation each time where threads are refused in these words.
  const details = "thread" in errors && { error_code: "thread_unsupported_request", unsupported: ["thread"] };
  return { type: "error", error: { type, message: said, ...(details && { details }) } };
}

/** The sentence for a reached limit: which one, until when, and what became of the message. */
function limitInWords({ message, ofPlan, kept, resetsAt, isAlways }: LimitReached, zone: string | undefined): string {
  if (!ofPlan || isAlways) return message;
  const when = momentInWords(resetsAt, Date.now(), knownZone(zone));
  return `${message} Podrás seguir ${when}${kept ? "; tu mensaje queda guardado como borrador" : ""}.`;
}

export function asProblem(error: Error, c: Context<ApiEnv>): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof BodyRefused) return bodyRefused(error);
  if (error instanceof TakenBack) return invalid("queued", "Ese mensaje ya se ha enviado.");
  if (error instanceof CannotReply) return invalid(error.field, error.message);
  if (error instanceof LimitReached) {
    const seconds = Math.max(1, Math.ceil((error.resetsAt - Date.now()) / 1000));
    const headers = { "Retry-After": String(seconds), "RateLimit-Remaining": "0", "RateLimit-Reset": String(seconds) };
    const code = error.ofPlan ? "insufficient_quota" : "rate_limit_exceeded";
    return new Problem(429, limitInWords(error, c.req.header("Time-Zone")), { headers, code });
  }
  if (error instanceof HTTPException && error.status < 500) {
    const { status } = error;
    if (/\S/.test(c.req.header("Content-Encoding")?.replace(/identity/i, "") ?? ""))
      return new Problem(415, "La petición no se entiende: el cuerpo tiene que venir sin comprimir.");
    if (status === 415)
      return new Problem(
        status,
        "La petición no se entiende: el cuerpo tiene que decir Content-Type: application/json.",
      );
    return new Problem(status, "La petición no se entiende: el cuerpo no es JSON válido.");
  }
  // The only recursion of these depths goes through what was sent.
  if (error instanceof RangeError && /call stack/i.test(error.message))
    return new Problem(422, "La petición tiene demasiados niveles, unos dentro de otros.");
  if (error instanceof StorageUnavailable)
    return new Problem(503, unavailable.storage, { headers: { "Retry-After": "5" } });
  const why = whyUnavailable(error);
  if (why) return new Problem(503, unavailable[why], { headers: { "Retry-After": "5" } });
  return new Problem(500, "Algo ha fallado en el servidor. Vuelve a intentarlo.");
}

function bodyRefused({ reason }: BodyRefused): Problem {
  switch (reason) {
    case "large":
      return new Problem(413, "La petición es demasiado grande.");
    case "slow":
      return new Problem(408, "La petición ha tardado demasiado en llegar.", { headers: { Connection: "close" } });
    case "many":
      return new Problem(429, "Desde tu red llegan demasiadas peticiones a la vez. Espera a que acaben.", {
        headers: { "Retry-After": "10", Connection: "close" },
      });
  }
}

const unavailable = {
  full: "El disco del servidor está lleno y no se puede guardar nada. Avisa a quien administra.",
  busy: "La base de datos está ocupada. Vuelve a intentarlo en un momento.",
  storage: "El almacén de archivos no contesta. Vuelve a intentarlo en un momento.",
  lost: "La base de datos no contesta. Vuelve a intentarlo en un momento.",
};

/** For routes: refuses what does not fit their schemas. */
export const answerInvalid: Hook<unknown, ApiEnv, string, unknown> = (result) => {
  if (!result.success) throw refusalOf(result.error);
};

type Issue = z.core.$ZodIssue;

/** Whether a value says by its `type` that it has another form. */
const isOtherType = ({ code, path }: Issue) => code === "invalid_value" && path.length === 1 && path[0] === "type";

/** If a value may have several forms, the issues within the form that is meant: a list with a wrong item is not called a wrong text. */
function closest(issue: Issue): Issue[] {
  const forms = issue.code === "invalid_union" ? issue.errors : [];
  const [meant, ...others] = forms.filter((issues) =>
    issues.every((inner) => inner.path.length > 0 && !isOtherType(inner)),
  );
  if (!meant || others.length > 0) return [issue];
  return meant.flatMap((inner) => closest({ ...inner, path: [...issue.path, ...inner.path] }));
}

/** A failed validation as a 422 with one sentence per field path. */
export function refusalOf(error: { issues: z.core.$ZodIssue[] }): Problem {
  const errors: Record<string, string> = {};
  for (const issue of error.issues.flatMap(closest)) {
    const unknown = issue.code === "unrecognized_keys" ? issue.keys[0] : undefined;
    const field = [...issue.path, ...(unknown ? [unknown] : [])].join(".");
    if (field) errors[field] ??= issue.message.replace(/(?<![.?])$/, ".");
    else errors.body ??= "El cuerpo tiene que ser un objeto JSON.";
  }
  return new Problem(422, Object.values(errors)[0] ?? "Hay datos que no son válidos.", { errors });
}
