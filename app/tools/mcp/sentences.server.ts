import {
  InsufficientScopeError,
  OAuthClientFlowError,
  OAuthError,
  ProtocolError,
  RegistrationRejectedError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { ForbiddenAddress } from "../../process/network/addresses.server.ts";
import { cutText } from "../../process/text/cut-text.ts";
import { listOf, objectOf, recordOf } from "../../process/text/json.ts";
import { ToolRefused } from "../tool.server.ts";
import type { McpServer } from "./server.ts";

type Named = Pick<McpServer, "name" | "personal" | "secret">;

/** Error of a server of tools, as a sentence that its administrator understands. */
export function refusedBy(server: Named, error: unknown): ToolRefused {
  if (error instanceof ToolRefused) return error;
  return new ToolRefused(sentence(server, error), { cause: error, mayBeDone: !isSurelyUndone(error) });
}

/** Whether a server could not be reached, or asks for a key: it would not understand another protocol either. */
export function isUnreached(error: unknown): boolean {
  if (error instanceof ToolRefused || error instanceof UnauthorizedError) return true;
  if (error instanceof SdkHttpError && (error.status === 401 || error.status === 403)) return true;
  const codes = codesOf(error);
  return unreached.some((code) => codes.has(code));
}

const unreached = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ENOENT", "EACCES", "forbidden"];

/** Whether the server has certainly not done what was asked: it was not reached, or has refused it. */
function isSurelyUndone(error: unknown): boolean {
  if (error instanceof UnauthorizedError || error instanceof ProtocolError) return true;
  if (error instanceof SdkHttpError && error.status !== undefined) return error.status >= 300 && error.status < 500;
  return isUnreached(error);
}

function sentence({ name, personal, secret }: Named, error: unknown): string {
  // Without a key that an administrator has given, a refused token is that of a sign-in.
  const isRefusedToken = secret === null && error instanceof SdkHttpError && error.status === 401;
  if (error instanceof UnauthorizedError || isRefusedToken) {
    return personal
      ? `«${name}» pide que conectes tu cuenta otra vez, en Seguridad.`
      : `«${name}» pide que quien administra inicie sesión allí.`;
  }
  const signIn = ofSignIn(name, error);
  if (signIn) return signIn;
  if (error instanceof ProtocolError) return `«${name}» ha contestado con un error${quoted(withDetail(error))}.`;
  if (error instanceof SdkHttpError && error.status !== undefined) {
    return ofStatus(name, error.status, messageIn(String(error.data.text ?? "")));
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)
    return `«${name}» no ha contestado a tiempo.`;
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed) {
    return `«${name}» ha cortado la conexión a mitad de la llamada.`;
  }
  const codes = codesOf(error);
  if (codes.has("ECONNREFUSED")) return `«${name}» no contesta: nadie escucha en su dirección.`;
  if (codes.has("ENOTFOUND") || codes.has("EAI_AGAIN")) return `«${name}» no contesta: su máquina no se encuentra.`;
  if (codes.has("ENOENT") || codes.has("EACCES")) return `El programa de «${name}» no se puede ejecutar.`;
  if (codes.has("forbidden")) return `La dirección de «${name}» es de la propia red de la máquina y no se admite.`;
  if (error instanceof SyntaxError || notMcp.some((code) => codes.has(code))) {
    return `«${name}» ha contestado algo que no es MCP.`;
  }
  if (codes.has("fetch")) return `«${name}» no contesta.`;
  return `«${name}» ha fallado.`;
}

/** A failure of signing in; undefined for any other. */
function ofSignIn(name: string, error: unknown): string | undefined {
  if (error instanceof InsufficientScopeError)
    return `«${name}» pide más permiso: hay que iniciar sesión allí otra vez.`;
  const byHand = "Da de alta Tertulia allí a mano, y escribe su identificador en «Cliente OAuth».";
  if (error instanceof RegistrationRejectedError) {
    return `«${name}» no deja que un programa se dé de alta solo (${error.status})${quoted(messageIn(error.body))}. ${byHand}`;
  }
  // The library's words for metadata without a `registration_endpoint`.
  if (error instanceof Error && /not support dynamic client registration/.test(error.message)) {
    return `«${name}» no deja que un programa se dé de alta solo. ${byHand}`;
  }
  const [, resource] =
    (error instanceof Error && /^Protected resource (\S{1,300}) does not match/.exec(error.message)) || [];
  if (resource)
    return `«${name}» da permiso para ${resource}, y no para la dirección que tiene aquí. Si es suya, ponla.`;
  if (error instanceof OAuthError) {
    // The library's own words around an answer that is no error of the protocol.
    const [, status] = /^(?:HTTP (\d{3}): )?Invalid OAuth error response/.exec(error.message) ?? [];
    const said = /Invalid OAuth error response/.test(error.message) ? "" : quoted(error.message);
    return `«${name}» no ha dejado iniciar sesión${status ? ` (${status})` : ""}${said}.`;
  }
  if (error instanceof OAuthClientFlowError)
    return `El inicio de sesión de «${name}» no es como manda OAuth, y no se sigue.`;
  return undefined;
}

const notMcp = [
  SdkErrorCode.InvalidResult,
  SdkErrorCode.EraNegotiationFailed,
  SdkErrorCode.ClientHttpUnexpectedContent,
];

const onOneLine = (text: string) =>
  text
    .replace(/[\p{Cc}\p{Cf}]+/gu, " ")
    .replace(/\s+/g, " ")
    .trim();

/** The server's own words, in quotation marks; empty if there are none. */
function quoted(message: string): string {
  const text = onOneLine(message.replace(/^MCP error -?\d+: /, ""));
  if (!text) return "";
  return `: «${text.length > saidLength ? `${cutText(text, saidLength)}…` : text}»`;
}

// Characters of a server's own message.
const saidLength = 500;

/** The message of an error, with what its data say more: frameworks put the reason there, beside «Internal error». */
function withDetail({ message, data }: ProtocolError): string {
  const fields = recordOf(data);
  // Servers that want the person to visit a page first (URLElicitationRequired) say which one.
  const [asked] = listOf(fields?.elicitations).map(recordOf);
  if (typeof asked?.url === "string") return `${message} ${asked.message ?? ""} ${asked.url}`;
  const detail = fields ? (fields.detail ?? fields.details ?? fields.message ?? fields.error) : data;
  return typeof detail === "string" && !message.includes(detail) ? `${message}: ${detail}` : message;
}

// Names of tools in a sentence, and characters of each.
const namedAtMost = 10;
const nameLength = 64;

/** Tells which tools a server offers and are not taken; null if there is none. */
export function tellLeftOut(names: string[]): string | null {
  if (names.length === 0) return null;
  const named = names.slice(0, namedAtMost).map((name) => cutText(onOneLine(name), nameLength));
  const more = names.length - named.length;
  const all = `${named.join(", ")}${more > 0 ? ` y ${more} más` : ""}`;
  return `Ofrece más herramientas, o más largas, de las que caben aquí. ${names.length === 1 ? "Falta" : "Faltan"}: ${all}.`;
}

/** The message in the body of a refusal: of JSON-RPC, of OAuth, or of a gateway. */
function messageIn(body: string): string {
  const said = objectOf(body);
  if (!said) return /^[^<{]{1,300}$/.test(body.trim()) ? body.trim() : "";
  const message = recordOf(said.error)?.message ?? said.message ?? said.error_description ?? said.detail ?? said.error;
  return typeof message === "string" ? message : "";
}

function ofStatus(name: string, status: number, message: string): string {
  if (status === 401) return `«${name}» no acepta la clave${quoted(message)}.`;
  if (status === 403) return `«${name}» no permite esto con la clave que tiene${quoted(message)}.`;
  if (status >= 400 && message && (status !== 404 || /session/i.test(message)) && status !== 405) {
    return `«${name}» ha contestado ${status}${quoted(message)}.`;
  }
  if (status === 405)
    return `En esa dirección de «${name}» no hay un servidor MCP que se entienda (405): hace falta «Streamable HTTP», y el transporte antiguo, SSE, no vale.`;
  if (status === 404) return `En esa dirección de «${name}» no hay un servidor MCP (404).`;
  if (status === 429) return `«${name}» no admite más llamadas por ahora.`;
  if (status >= 300 && status < 400) return `«${name}» quiere llevar a otra dirección (${status}), y eso no se sigue.`;
  return status < 300 ? `«${name}» ha contestado algo que no es MCP.` : `«${name}» ha contestado ${status}.`;
}

/** The codes of an error and of what caused it. */
function codesOf(error: unknown): Set<string> {
  const codes = new Set<string>();
  for (let cause: unknown = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    if ("code" in cause && typeof cause.code === "string") codes.add(cause.code);
    if (cause instanceof ForbiddenAddress) codes.add("forbidden");
    if (cause instanceof TypeError && cause.message === "fetch failed") codes.add("fetch");
    if (cause instanceof AggregateError)
      for (const one of cause.errors) for (const code of codesOf(one)) codes.add(code);
  }
  return codes;
}
