import * as oidc from "openid-client";
import { tryDecrypt } from "../../process/crypto.server.ts";
import type { Services } from "../env.server.ts";
import { providerOf } from "./provider.server.ts";

// In characters. The address is kept in a cookie, and browsers drop those of more than 4 kB: a token with forty groups is longer.
const longestHint = 2_400;

/**
 * Address that ends the provider's session behind a session here (OpenID Connect RP-Initiated Logout 1.0). Returns undefined if no provider
 * opened the session, or if the provider has no such address or is gone: the session here ends in any case.
 */
export async function leavingUrl(
  { db, accessKey, log }: Services,
  sessionId: string,
  back: string | undefined,
): Promise<string | undefined> {
  const session = await db
    .selectFrom("sessions")
    .where("id", "=", sessionId)
    .select(["accessId", "idToken"])
    .executeTakeFirst();
  if (!session?.accessId) return undefined;
  const access = await db.selectFrom("accesses").where("id", "=", session.accessId).selectAll().executeTakeFirst();
  if (access?.kind !== "oidc") return undefined;
  try {
    const provider = await providerOf(access, accessKey);
    if (!provider.serverMetadata().end_session_endpoint) return undefined;
    const hint = session.idToken ? tryDecrypt(session.idToken, accessKey, sessionId) : undefined;
    return oidc.buildEndSessionUrl(provider, {
      ...(hint !== undefined && hint.length <= longestHint && { id_token_hint: hint }),
      ...(back !== undefined && { post_logout_redirect_uri: back }),
    }).href;
  } catch (error) {
    log.warn({ err: error, access: access.name }, "no se puede salir también del proveedor");
    return undefined;
  }
}
