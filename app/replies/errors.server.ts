import { APICallError } from "@ai-sdk/provider";
import { faultOf } from "../process/fault.ts";
import { recordOf } from "../process/text/json.ts";

type Status = 400 | 402 | 404 | 413 | 424 | 429 | 502 | 504;

/**
 * Kinds of failure of a model server, by the sentence for the person and the HTTP status for programs: 4xx for what they can fix,
 * 5xx for what they may retry. `passes`: whether the same request may succeed later.
 */
const kinds = {
  "too-long": {
    status: 413,
    passes: false,
    says: "La conversación es demasiado larga para este modelo. Elige otro o empieza una nueva.",
  },
  busy: {
    status: 429,
    passes: true,
    says: "El proveedor está recibiendo demasiadas peticiones. Reinténtalo dentro de un momento o elige otro modelo.",
  },
  unpaid: {
    status: 402,
    passes: false,
    says: "La cuenta con el proveedor de este modelo no tiene saldo o ha llegado a su límite. Avisa a quien administra o elige otro modelo.",
  },
  key: {
    status: 424,
    passes: false,
    says: "El proveedor rechazó la clave de este modelo. Avisa a quien administra o elige otro modelo.",
  },
  forbidden: {
    status: 424,
    passes: false,
    says: "El proveedor no deja usar este modelo con la clave que tiene, o desde aquí. Avisa a quien administra o elige otro modelo.",
  },
  "unknown-model": {
    status: 404,
    passes: false,
    says: "El proveedor no conoce este modelo. Avisa a quien administra o elige otro modelo.",
  },
  address: {
    status: 404,
    passes: false,
    says: "En la dirección de este modelo no hay un servidor de modelos que conteste. Avisa a quien administra o elige otro modelo.",
  },
  filtered: {
    status: 400,
    passes: false,
    says: "El filtro de contenido del proveedor no ha dejado pasar la pregunta o la respuesta. Cambia la pregunta o elige otro modelo.",
  },
  parameter: {
    status: 400,
    passes: false,
    says: "El proveedor no aceptó la petición. Avisa a quien administra o elige otro modelo.",
  },
  images: {
    status: 400,
    passes: false,
    says: "Este modelo no puede ver las imágenes de esta conversación. Elige otro modelo, o empieza una conversación sin ellas.",
  },
  "misspelt-call": {
    status: 502,
    passes: true,
    says: "El modelo ha escrito mal la llamada a una herramienta, y el proveedor no la ha aceptado. Reinténtalo o elige otro modelo.",
  },
  loading: {
    status: 504,
    passes: true,
    says: "El servidor está cargando este modelo todavía. Reinténtalo en un momento o elige otro.",
  },
  overloaded: {
    status: 502,
    passes: true,
    says: "El proveedor del modelo no da abasto ahora mismo. Reinténtalo en un momento o elige otro modelo.",
  },
  broken: {
    status: 502,
    passes: true,
    says: "El proveedor del modelo tiene un problema. Reinténtalo o elige otro modelo.",
  },
  slow: {
    status: 504,
    passes: true,
    says: "El proveedor del modelo no ha contestado a tiempo. Reinténtalo o elige otro modelo.",
  },
  unreachable: {
    status: 502,
    passes: true,
    says: "No se ha podido conectar con el proveedor del modelo. Reinténtalo o elige otro modelo.",
  },
  "not-allowed": {
    status: 502,
    passes: false,
    says: "La dirección de este modelo no se admite. Avisa a quien administra o elige otro modelo.",
  },
  nonsense: {
    status: 502,
    passes: true,
    says: "El proveedor del modelo ha contestado algo que no se entiende. Reinténtalo o elige otro modelo.",
  },
} satisfies Record<string, { status: Status; passes: boolean; says: string }>;

export type FailureKind = keyof typeof kinds;

/**
 * Reason why a reply failed, as a Spanish sentence for the person: what happened, then what to do. `cause` is for the log.
 */
export class ReplyError extends Error {
  readonly status: Status;
  /** Kind of the provider's failure; undefined for a failure in Tertulia or of the model itself. */
  readonly kind: FailureKind | undefined;
  /** Window of the server in tokens, where it said so with `too-long`. */
  readonly fits: number | undefined;
  /** Seconds after which the provider says that it can be asked again. */
  readonly retryAfter: number | undefined;
  /** Parameter of a program that the model does not take, by its name in chat completions. */
  readonly parameter: string | undefined;
  /** Whether a part of the answer has come. */
  readonly isCut: boolean;
  constructor(
    message: string,
    {
      status = 502,
      kind,
      fits,
      retryAfter,
      parameter,
      isCut = false,
      cause,
    }: {
      status?: Status;
      kind?: FailureKind;
      fits?: number;
      retryAfter?: number;
      parameter?: string;
      isCut?: boolean;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause });
    this.status = status;
    this.kind = kind;
    this.fits = fits;
    this.retryAfter = retryAfter;
    this.parameter = parameter;
    this.isCut = isCut;
  }
  static notTaken(parameter: string) {
    return new ReplyError(`Este modelo no admite «${parameter}». Quítalo de la petición o elige otro modelo.`, {
      status: 400,
      parameter,
    });
  }
  static of(kind: FailureKind, more: { fits?: number; retryAfter?: number; cause?: unknown } = {}) {
    return new ReplyError(kinds[kind].says, { status: kinds[kind].status, kind, ...more });
  }
  static silent(ms: number) {
    return new ReplyError(
      `El modelo lleva ${Math.round(ms / 1000)} segundos sin responder. Reinténtalo o elige otro modelo.`,
      { status: 504 },
    );
  }
  /** An answer that broke off after it had begun. `why`: the failure that the provider reported, if it reported one. */
  static cut(why?: ReplyError, cause: unknown = why?.cause) {
    if (!why?.kind || why.kind === "nonsense" || why.kind === "unreachable") {
      return new ReplyError("La respuesta del modelo se cortó antes de terminar.", { cause, isCut: true });
    }
    const { status, kind, fits, retryAfter } = why;
    return new ReplyError(`La respuesta se cortó. ${why.message}`, {
      status,
      kind,
      cause,
      isCut: true,
      ...(fits !== undefined && { fits }),
      ...(retryAfter !== undefined && { retryAfter }),
    });
  }
  static empty() {
    return new ReplyError("El modelo terminó sin escribir nada. Reinténtalo o elige otro modelo.");
  }
  /** The model ended normally without any text; `why` is its finish reason. */
  static wordless(why: keyof typeof wordless) {
    return new ReplyError(wordless[why]);
  }
  static lostKey() {
    return new ReplyError(
      "La clave de este modelo no se puede leer. Avisa a quien administra, que tiene que escribirla otra vez, o elige otro modelo.",
    );
  }
  static endless() {
    return new ReplyError("La respuesta no terminaba y se ha cortado aquí.", { isCut: true });
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
  thought:
    "El modelo ha pensado, pero terminó sin escribir nada. Puedes leer lo que ha pensado; reinténtalo o elige otro modelo.",
};

/** Words of a model server instead of an answer, in whatever shape: a response, an event of a stream, a JSON body. */
type Told = { status: number | undefined; headers: Record<string, string | undefined>; said: string };

/** Turns whatever a provider's library threw, or a stream told as an error, into a ReplyError; a stop by the person is returned as it is. */
export function replyError(error: unknown): unknown {
  if (error instanceof ReplyError || faultOf(error).name === "StopReply") return error;
  const told = toldBy(error);
  if (told) return failureOf(told, error);
  if (hasCause(error, (cause) => cause.name === "ForbiddenAddress")) return ReplyError.of("not-allowed");
  return ReplyError.of(isConnectionError(error) ? "unreachable" : "nonsense", { cause: error });
}

/** The words of a failure, in any shape; undefined if the failure is not a server's. */
export function toldBy(error: unknown): Told | undefined {
  if (APICallError.isInstance(error)) {
    const { statusCode, responseHeaders = {}, responseBody = "", message } = error;
    if (!statusCode) return undefined;
    return { status: statusCode, headers: responseHeaders, said: `${message} ${responseBody}`.slice(0, 5_000) };
  }
  if (error === null || error === undefined || error instanceof Error) return undefined;
  const said = (typeof error === "string" ? error : (JSON.stringify(error) ?? "")).slice(0, 5_000);
  return { status: statusIn(said), headers: {}, said };
}

/** HTTP status that an error names in its own JSON, as `code` or `status`. */
export function statusIn(said: string): number | undefined {
  const [, status] = /"(?:code|status|status_code|statusCode)"\s*:\s*"?([45]\d\d)\b(?!\d)/.exec(said) ?? [];
  return status === undefined ? undefined : Number(status);
}

/**
 * The failure that a server reports, recognised by its words before its status: gateways send many failures as 400, as 500, or with a 200.
 * Words of OpenAI, Azure, Anthropic, Google, Mistral, DeepSeek, Groq, OpenRouter, Alibaba, MiniMax, Moonshot, Z.ai, llama.cpp, vLLM, Ollama,
 * LM Studio and LiteLLM.
 */
function failureOf({ status, headers, said }: Told, cause: unknown): ReplyError {
  const kind = kindOf(status, said);
  const retryAfter = kinds[kind].passes ? retryAfterIn(headers, said) : undefined;
  const more = { cause, ...(retryAfter !== undefined && { retryAfter }) };
  if (kind === "too-long") {
    const fits = windowIn(said);
    return ReplyError.of(kind, { ...more, ...(fits && { fits }) });
  }
  const own = (message: string) => new ReplyError(message, { ...more, kind, status: kinds[kind].status });
  if (kind === "busy" && retryAfter !== undefined && retryAfter > 0) {
    return own(kinds.busy.says.replace("dentro de un momento", `dentro de ${waitInWords(retryAfter)}`));
  }
  if (kind === "broken" && status && status >= 500) {
    return own(kinds.broken.says.replace("un problema", `un problema (${status})`));
  }
  if (kind === "parameter" && status) return own(kinds.parameter.says.replace("petición", `petición (${status})`));
  return ReplyError.of(kind, more);
}

/** Reasons by which Google ends an answer whose call can't be read. */
export const misspeltReason = /malformed_function_call|unexpected_tool_call/i;

const words: [FailureKind, RegExp][] = [
  ["misspelt-call", misspeltReason],
  ["misspelt-call", /tool_use_failed|failed_generation|tool call validation failed|failed to parse input at pos/i],
  // Clear words only: a match takes the images of a model from everybody. Errors about one image must not match.
  [
    "images",
    /(?:not|n't) support (?:image|vision|multimodal)|found that support image|image(?:_url| inputs?) (?:is|are) not (?:supported|enabled|allowed)|not a (?:multimodal|vision) model|image_url is only supported|required for image input|at most 0 image/i,
  ],
  ["forbidden", /data policy|guardrail restrictions/i],
  [
    "too-long",
    /exceed_context_size|context_length_exceeded|context (?:length|size|window|limit)|exceeds? (?:the )?context|model_max_prompt_tokens_exceeded|prompt is too long|input is too long|input token count|too many (?:input )?tokens|too large to process|maximum number of tokens|reduce the length|string_above_max_length|range of input length|max(?:imum)?[ _]prompt[ _](?:length|tokens)|longer than the maximum model length|(?:exceeded )?model token limit|max_seq_len|inputs?` must have less than|prompt too long|max kv size|cannot truncate prompt|n_keep.{1,20}n_ctx|prompt 超长|exceeds max length|more than max tokens allowed|maximum allowed input length|tokens[` ]{0,3}\+ `?max_new_tokens/i,
  ],
  [
    "unpaid",
    /insufficient[ _](?:quota|balance|credit|funds)|current quota|credit balance|requires more credits|billing[ _](?:hard[ _])?(?:limit|not[ _]active)|plan and billing|payment required|arrearage|out of credits|not enough credits|(?:used|spent) all (?:available )?credits|spending limit|(?:have|has) any credits|budget has been exceeded|exceededbudget|余额不足|reached your [^.]{0,40}usage limits?|(?:weekly|monthly)[^.]{0,20} usage limit|free-models-per-day|prepayment credits|FreeTierOnly/i,
  ],
  [
    "filtered",
    /content[ _]filter|content management policy|ResponsibleAIPolicy|moderation|flagged|data_inspection_failed|content_policy|safety (?:system|filter)|PROHIBITED_CONTENT|inappropriate content|SAFETY_CHECK|violates usage guidelines|sensitive_words|不安全或敏感/i,
  ],
  ["broken", /model has crashed/i],
  [
    "loading",
    /loading model|no models? loaded|model is (?:currently )?loading|is currently loading|still loading|warming up/i,
  ],
  [
    "busy",
    /rate[ _-]?limit|too many requests|resource_?exhausted|throttl|per min(?:ute)?\b|tokens per day|requests per day|please wait before/i,
  ],
  [
    "overloaded",
    /overloaded|insufficient_system_resource|no available (?:server|channel|worker)|at capacity|over capacity|insufficient system resources|requires more system memory/i,
  ],
  [
    "key",
    /invalid[ _-]api[ _-]key|incorrect api key|api key (?:not valid|expired)|api_key_invalid|authentication_error|invalid_?authentication|unauthori[sz]ed|no auth credentials|missing api key|invalid x-api-key|no api-key provided|login fail/i,
  ],
  ["unknown-model", /model_not_supported/],
  [
    "unknown-model",
    /model_not_found|model_decommissioned|(?:no such|unknown|invalid) model\b|not a valid model|model[^.]{0,80}(?:not found|does not exist|not exist|is not available|has been (?:deprecated|decommissioned))|no endpoints found|DeploymentNotFound|invalid_model/i,
  ],
  [
    "forbidden",
    /permission_?(?:denied|error)|unsupported_country|not available in your|user location is not supported|access denied|\bforbidden\b/i,
  ],
];

function kindOf(status: number | undefined, said: string): FailureKind {
  const byWords = words.find(([kind, pattern]) => {
    // «Too many tokens per minute» is a rate limit, although its words also match `too-long`.
    if (kind === "too-long" && (status === 429 || /per min(?:ute)?\b|rate[ _-]?limit|please wait|throttl/i.test(said)))
      return false;
    // Google says «current quota» also of the rate limit of its free use, and adds when to retry.
    if (kind === "unpaid" && status === 429 && /retryDelay|retry in \d|RESOURCE_EXHAUSTED/.test(said)) return false;
    return pattern.test(said);
  })?.[0];
  if (status === 413) return "too-long";
  if (status === 402) return "unpaid";
  if (byWords) return byWords;
  if (status === undefined) return "broken";
  if (status === 401) return "key";
  if (status === 403) return "forbidden";
  if (status === 404 || status === 405)
    return /model/i.test(said.replace(/Not Found/gi, "")) ? "unknown-model" : "address";
  if (status === 408 || status === 504 || status === 524) return "slow";
  if (status === 429) return "busy";
  if (status === 503 || status === 529) return "overloaded";
  if (status >= 500) return "broken";
  // A 2xx here means that its body was not what the protocol says.
  return status < 300 ? "nonsense" : "parameter";
}

function windowIn(said: string): number | undefined {
  const found =
    /"n_ctx"\s*:\s*(\d{1,9})|n_ctx \((\d{3,9})\)|(?:maximum|model) (?:context|prompt|model|token) (?:length|limit)(?: is| of|:) (\d{1,9})|max_seq_len \(?(\d{3,9})|have less than (\d{3,9}) tokens|allowed input length of (\d{3,9})|> (\d{3,9})\b/.exec(
      said,
    );
  return Number(found?.slice(1).find(Boolean)) || undefined;
}

function waitInWords(given: number): string {
  const seconds = Math.ceil(given);
  const minutes = Math.round(seconds / 60);
  if (seconds <= 120) return `${seconds} ${seconds === 1 ? "segundo" : "segundos"}`;
  if (minutes < 60) return `${minutes} minutos`;
  const hours = Math.round(seconds / 3600);
  return `${hours} ${hours === 1 ? "hora" : "horas"}`;
}

/** Seconds until another try, as headers (RFC 9110, OpenAI's in ms) or words say it. */
function retryAfterIn(headers: Told["headers"], said: string): number | undefined {
  const given = headers["retry-after"];
  const ms = Number(headers["retry-after-ms"]);
  if (ms > 0) return ms / 1000;
  if (given) {
    const seconds = Number(given);
    if (Number.isFinite(seconds)) return Math.max(0, seconds);
    const until = Date.parse(given) - Date.now();
    if (Number.isFinite(until)) return Math.max(0, until / 1000);
  }
  const [, delay] = /(?:"retryDelay"\s*:\s*"|(?:try again|retry) in )(\d{1,6}(?:\.\d{1,6})?)\s?s/i.exec(said) ?? [];
  return delay === undefined ? undefined : Number(delay);
}

/** The part of a failure that may be logged: provider messages can contain keys and message text. */
export function describeCause({ kind, cause }: ReplyError): Record<string, unknown> {
  const said = { ...(kind && { kind }) };
  if (!(cause instanceof Error)) return said;
  const status = recordOf(cause)?.statusCode;
  const { code } = faultOf(cause.cause);
  return {
    ...said,
    type: cause.name,
    ...(typeof status === "number" && { statusCode: status }),
    ...(code && { code }),
  };
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
