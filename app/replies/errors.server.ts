import { APICallError } from "@ai-sdk/provider";

type Status = 400 | 404 | 413 | 424 | 429 | 502 | 504;

/** Why a reply failed, as a Spanish sentence for the person: what happened, then what to do. `cause` is for the log. */
export class ReplyError extends Error {
  /** HTTP status for programs: 4xx for what they can fix, 5xx for what they may retry. */
  readonly status: Status;
  /** Set when the prompt was too long; `fits` is the server's window in tokens, if it said so. */
  readonly tooLong: { fits: number | undefined } | undefined;
  constructor(
    message: string,
    { status = 502, tooLong, cause }: { status?: Status; tooLong?: { fits: number | undefined }; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.status = status;
    this.tooLong = tooLong;
  }
  static loading() {
    return new ReplyError("El servidor está cargando este modelo todavía. Reinténtalo en un momento o elige otro.", {
      status: 504,
    });
  }
  static silent(ms: number) {
    return new ReplyError(
      `El modelo lleva ${Math.round(ms / 1000)} segundos sin responder. Reinténtalo o elige otro modelo.`,
      { status: 504 },
    );
  }
  static cut(cause?: unknown) {
    return new ReplyError("La respuesta del modelo se cortó antes de terminar. Lo que llegó está guardado.", { cause });
  }
  static empty() {
    return new ReplyError("El modelo terminó sin escribir nada. Reinténtalo o elige otro modelo.");
  }
  /** The model ended normally without any text; `why` is its finish reason. */
  static wordless(why: "length" | "content-filter" | "refusal" | "tool-calls" | "file") {
    return new ReplyError(wordless[why]);
  }
  static lostKey() {
    return new ReplyError(
      "La clave de este modelo no se puede leer. Avisa a quien administra, que tiene que escribirla otra vez, o elige otro modelo.",
    );
  }
  static endless() {
    return new ReplyError("La respuesta no terminaba y se ha cortado aquí. Lo que llegó está guardado.");
  }
}

const wordless = {
  length:
    "El modelo ha gastado toda la salida que puede dar en pensar, sin llegar a escribir. Reinténtalo, pregunta algo más corto o elige otro modelo.",
  "content-filter":
    "El filtro de contenido del proveedor no ha dejado pasar la respuesta. Cambia la pregunta o elige otro modelo.",
  refusal: "El modelo no ha querido responder a esto. Cambia la pregunta o elige otro modelo.",
  "tool-calls":
    "El modelo ha querido usar una herramienta en vez de escribir, y aquí no la tiene. Reinténtalo o elige otro modelo.",
  file: "El modelo ha contestado solo con un archivo, que aquí no se puede enseñar. Pídele un texto o elige otro modelo.",
};

// A provider's 401 and 403 concern this server's key, not the key of the program that asks here.
const statusFor: Record<number, Status> = { 401: 424, 403: 424, 404: 404, 408: 504, 429: 429 };

/** Turns whatever a provider's library threw into a ReplyError; a stop by the person is returned as it is. */
export function replyError(error: unknown): unknown {
  if (error instanceof ReplyError || (error as Error | undefined)?.name === "StopReply") return error;
  if (APICallError.isInstance(error) && error.statusCode) {
    const tooLong = whereTooLong(error);
    if (tooLong) return new ReplyError(tooLongSaid, { status: 413, tooLong, cause: error });
    const status = statusFor[error.statusCode] ?? (error.statusCode >= 400 && error.statusCode < 500 ? 400 : 502);
    return new ReplyError(forStatus(error.statusCode, error.responseHeaders?.["retry-after"]), {
      status,
      cause: error,
    });
  }
  if (hasCause(error, (cause) => cause.name === "ForbiddenAddress")) {
    return new ReplyError("La dirección de este modelo no se admite. Avisa a quien administra o elige otro modelo.");
  }
  if (isConnectionError(error)) {
    return new ReplyError("No se ha podido conectar con el proveedor del modelo. Reinténtalo o elige otro modelo.", {
      cause: error,
    });
  }
  return new ReplyError(
    "El proveedor del modelo ha contestado algo que no se entiende. Reinténtalo o elige otro modelo.",
    {
      cause: error,
    },
  );
}

const tooLongSaid = "La conversación es demasiado larga para este modelo. Elige otro o empieza una nueva.";

// The words of llama.cpp, OpenAI and compatible servers, vLLM, Anthropic, Google, Mistral and DeepSeek.
const longWords =
  /exceed_context_size|context_length_exceeded|context (?:length|size|window)|prompt is too long|input token count|too many (?:input )?tokens|too large to process|maximum number of tokens|reduce the length/i;

/** Whether a server refused a prompt because of its length. */
function whereTooLong({ statusCode, responseBody = "", message }: APICallError): ReplyError["tooLong"] {
  const said = `${message} ${responseBody.slice(0, 5_000)}`;
  if (statusCode !== 413 && !(statusCode && statusCode >= 400 && statusCode <= 500 && longWords.test(said))) {
    return undefined;
  }
  const fits = /"n_ctx"\s*:\s*(\d+)|maximum context length (?:is|of) (\d+)|> (\d+) maximum/.exec(said);
  return { fits: Number(fits?.slice(1).find(Boolean)) || undefined };
}

/** Whether a server is still loading its model (llama.cpp: 503, "Loading model"). */
export const isLoading = (error: unknown) =>
  APICallError.isInstance(error) && error.statusCode === 503 && /loading model/i.test(String(error.responseBody));

/** The part of a failure that may be logged: provider messages can contain keys and message text. */
export function describeCause({ cause }: ReplyError): Record<string, unknown> {
  if (!(cause instanceof Error)) return {};
  const { statusCode } = cause as { statusCode?: number };
  return { type: cause.name, ...(statusCode && { statusCode }), code: (cause.cause as NodeJS.ErrnoException)?.code };
}

/** Whether a provider has refused a request because of the tools in it: «… does not support tools», «tools param requires --jinja». */
export function isAboutTools({ cause }: ReplyError): boolean {
  if (!APICallError.isInstance(cause)) return false;
  // Not any word of tools: one that is described wrongly must not take all of them from everybody.
  const said = `${cause.message} ${cause.responseBody ?? ""}`.slice(0, 2_000);
  return /(not|n't) support[^.]{0,40}\b(tool|function)|\b(tool|function)[^.]{0,60}(not (been )?(supported|enabled|available)|unsupported|requires? --)/i.test(
    said,
  );
}

function forStatus(status: number, retryAfter: string | undefined): string {
  if (status === 401 || status === 403) {
    return "El proveedor rechazó la clave de este modelo. Avisa a quien administra o elige otro modelo.";
  }
  if (status === 404) return "El proveedor no conoce este modelo. Avisa a quien administra o elige otro modelo.";
  if (status === 429) {
    const seconds = Number(retryAfter);
    const when = seconds > 0 && seconds < 3600 ? `dentro de ${Math.ceil(seconds)} segundos` : "dentro de un momento";
    return `El proveedor está recibiendo demasiadas peticiones. Reinténtalo ${when} o elige otro modelo.`;
  }
  if (status >= 500) return `El proveedor del modelo tiene un problema (${status}). Reinténtalo o elige otro modelo.`;
  // A 2xx here means that its body was not what the protocol says.
  if (status < 300)
    return "El proveedor del modelo ha contestado algo que no se entiende. Reinténtalo o elige otro modelo.";
  return `El proveedor no aceptó la petición (${status}). Avisa a quien administra o elige otro modelo.`;
}

const isConnectionError = (error: unknown) =>
  hasCause(
    error,
    (cause) =>
      ("code" in cause && /ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|UND_ERR/.test(String(cause.code))) ||
      /fetch failed|terminated|Cannot connect/i.test(cause.message),
  );

function hasCause(error: unknown, is: (cause: Error) => boolean): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (is(cause)) return true;
  return false;
}
