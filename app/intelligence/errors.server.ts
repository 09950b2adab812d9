import { APICallError } from "@ai-sdk/provider";

/** Why a reply failed, as a Spanish sentence for the person: what happened, then what to do. `cause` is for the log. */
export class ReplyError extends Error {
  static silent(ms: number) {
    return new ReplyError(
      `El modelo lleva ${Math.round(ms / 1000)} segundos sin responder. Reinténtalo o elige otro modelo.`,
    );
  }
  static cut(cause?: unknown) {
    return new ReplyError("La respuesta del modelo se cortó antes de terminar. Lo que llegó está guardado.", { cause });
  }
  static empty() {
    return new ReplyError("El modelo terminó sin escribir nada. Reinténtalo o elige otro modelo.");
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

/** Turns whatever a provider's library threw into a ReplyError. */
export function replyError(error: unknown): unknown {
  if (error instanceof ReplyError || (error as Error | undefined)?.name === "StopReply") return error;
  if (APICallError.isInstance(error) && error.statusCode) {
    return new ReplyError(forStatus(error.statusCode, error.responseHeaders?.["retry-after"]), { cause: error });
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

/** What the log may know of a failure: providers' words carry keys and message text. */
export function describeCause({ cause }: ReplyError): Record<string, unknown> {
  if (!(cause instanceof Error)) return {};
  const { statusCode } = cause as { statusCode?: number };
  return { type: cause.name, ...(statusCode && { statusCode }), code: (cause.cause as NodeJS.ErrnoException)?.code };
}

function forStatus(status: number, retryAfter: string | undefined): string {
  if (status === 401 || status === 403) {
    return "El proveedor rechazó la clave de este modelo. Avisa a quien administra o elige otro modelo.";
  }
  if (status === 404) return "El proveedor no conoce este modelo. Avisa a quien administra o elige otro modelo.";
  if (status === 413) return "La conversación es demasiado larga para este modelo. Elige otro o empieza una nueva.";
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
      /ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|UND_ERR/.test((cause as NodeJS.ErrnoException).code ?? "") ||
      /fetch failed|terminated|Cannot connect/i.test(cause.message),
  );

function hasCause(error: unknown, is: (cause: Error) => boolean): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (is(cause)) return true;
  return false;
}
