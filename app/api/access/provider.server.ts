import * as oidc from "openid-client";
import type { AccessRow } from "../../db/tables.ts";
import { isSecureOrHere } from "../../process/config.server.ts";
import { tryDecrypt } from "../../process/crypto.server.ts";
import { faultOf } from "../../process/fault.ts";
import type { Log } from "../../process/log.server.ts";
import { Problem } from "../http/problem.server.ts";

// In seconds, for each request to a provider.
const patience = 10;
// In bytes: a token with 5,000 groups has about 300 kB.
const largestAnswer = 2 * 1024 * 1024;
// In ms: how long a provider's metadata is used before the provider is asked again.
const knownFor = 60 * 60_000;

type Known = { version: string; until: number; configuration: Promise<oidc.Configuration> };
const known = new Map<string, Known>();

/** The client of a provider, discovered once an hour (OpenID Connect Discovery 1.0). `sayRefusal` turns its errors into sentences. */
export function providerOf(access: AccessRow, accessKey: Buffer): Promise<oidc.Configuration> {
  const version = `${access.updatedAt} ${access.clientId} ${access.secret}`;
  const before = known.get(access.id);
  if (before && before.version === version && before.until > Date.now()) return before.configuration;
  const configuration = discover(access, accessKey);
  known.set(access.id, { version, until: Date.now() + knownFor, configuration });
  // A provider that was gone may be back at the next attempt.
  configuration.catch(() => known.delete(access.id));
  return configuration;
}

async function discover(access: AccessRow, accessKey: Buffer): Promise<oidc.Configuration> {
  const secret = access.secret === null ? undefined : tryDecrypt(access.secret, accessKey, access.id);
  if (access.secret !== null && secret === undefined) {
    throw new Problem(
      503,
      `El secreto de «${access.name}» se guardó con otra clave maestra. Avisa a quien administra.`,
    );
  }
  const insecure = access.address.startsWith("http:") && isSecureOrHere(access.address);
  const discoverAt = (address: string) =>
    oidc.discovery(new URL(address), access.clientId, undefined, authentication(secret), {
      timeout: patience,
      [oidc.customFetch]: boundedFetch,
      execute: insecure ? [oidc.allowInsecureRequests] : [],
    });
  const configuration = await discoverAt(access.address).catch((error: unknown) => {
    // An issuer is compared letter by letter, and its last slash is easily left out or added.
    if (faultOf(error).code !== "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED") throw error;
    const other = access.address.endsWith("/") ? access.address.slice(0, -1) : `${access.address}/`;
    return discoverAt(other).catch(() => Promise.reject(error));
  });
  const { id_token_signing_alg_values_supported: algorithms = [] } = configuration.serverMetadata();
  if (algorithms.length > 0 && algorithms.every((one) => one.startsWith("HS"))) {
    throw new Problem(
      502,
      `«${access.name}» firma con ${algorithms.join(", ")}, que cualquiera con el secreto puede imitar. Quien administra tiene que ponerle allí una clave de firma (RS256 o ES256).`,
    );
  }
  // Without this the library trusts a token for having come over TLS, and does not look at its signature.
  oidc.enableNonRepudiationChecks(configuration);
  return configuration;
}

/** How the client authenticates at the token endpoint; by RFC 8414 a provider that names no method takes `client_secret_basic`. */
function authentication(secret: string | undefined): oidc.ClientAuth {
  if (!secret) return oidc.None();
  const [basic, post] = [oidc.ClientSecretBasic(secret), oidc.ClientSecretPost(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    return (methods.includes("client_secret_basic") ? basic : post)(server, ...rest);
  };
}

class AnswerTooLarge extends Error {}

/** `fetch` for what a provider answers, which is read whole: refused beyond 2 MB. */
export async function boundedFetch(url: string, options: object): Promise<Response> {
  const answer = await fetch(url, options);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    size += chunk.length;
    if (size > largestAnswer) throw new AnswerTooLarge(`more than ${largestAnswer} bytes`);
    chunks.push(chunk);
  }
  const isEmpty = [101, 204, 205, 304].includes(answer.status);
  return new Response(isEmpty ? null : Buffer.concat(chunks), {
    status: answer.status,
    headers: answer.headers,
  });
}

/** The reason why sign-in with a provider has failed, as a sentence for the person; the cause is logged for administrators. */
export function sayRefusal({ name }: AccessRow, error: unknown, log: Log): Problem {
  if (error instanceof Problem) return error;
  log.warn({ err: error, access: name }, "no se ha podido entrar con un proveedor");
  if (error instanceof oidc.AuthorizationResponseError) {
    return error.error === "access_denied"
      ? new Problem(403, `«${name}» no te ha dejado entrar, o lo has cancelado.`)
      : new Problem(
          502,
          `«${name}» ha contestado con un error. Empieza otra vez y, si sigue, avisa a quien administra.`,
        );
  }
  if (error instanceof oidc.ResponseBodyError) {
    return error.error === "invalid_grant"
      ? new Problem(422, "Esta entrada ya se ha usado o ha caducado. Empieza otra vez.")
      : new Problem(502, `«${name}» no acepta a esta instalación. Avisa a quien administra.`);
  }
  const { name: kind, code } = faultOf(error instanceof Error && error.cause instanceof Error ? error.cause : error);
  if (kind === "TimeoutError" || kind === "AbortError" || error instanceof TypeError || code.startsWith("E")) {
    return new Problem(504, `«${name}» no contesta ahora mismo. Vuelve a intentarlo en un momento.`);
  }
  return new Problem(
    502,
    `Lo que ha contestado «${name}» no es de fiar, y no se ha aceptado. Avisa a quien administra.`,
  );
}
