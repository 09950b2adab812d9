import { createHash, createHmac, randomBytes } from "node:crypto";
import { z } from "@hono/zod-openapi";
import { sameSecret } from "../../process/crypto.server.ts";
import type { Services } from "../env.server.ts";
import { invalid } from "../http/problem.server.ts";

// In ms: enough time for a person to fetch their phone.
const lives = 5 * 60_000;

export const ticket = z.string("Falta el ticket.").max(300, "El ticket no es válido.");
export const pageOrigin = z
  .url({ protocol: /^https?$/, error: "El origen tiene que ser una dirección." })
  .refine((url) => URL.parse(url)?.origin === url, "El origen es una dirección sin ruta.");

/** The challenge that a passkey signs. Nothing is stored: the ticket goes to the browser and comes back, and the challenge is its hash. */
export function makeChallenge({ clock, tokenKey }: Services, purpose: string): { ticket: string; challenge: string } {
  const begun = `${clock.now()}.${randomBytes(16).toString("base64url")}`;
  const made = `${begun}.${proofOf(tokenKey, purpose, begun)}`;
  return { ticket: made, challenge: challengeOf(made) };
}

/** The challenge of a ticket that was made here for this purpose, and the ticket's time. Throws 422 for another ticket or an old one. */
export function openTicket(
  { clock, tokenKey }: Services,
  purpose: string,
  given: string,
): { challenge: string; at: number } {
  const [at = "", random = "", proof = ""] = given.split(".");
  const isOurs = sameSecret(proof, proofOf(tokenKey, purpose, `${at}.${random}`));
  if (!isOurs || clock.now() - Number(at) > lives)
    throw invalid("ticket", "Ha pasado demasiado tiempo. Empieza otra vez.");
  return { challenge: challengeOf(given), at: Number(at) };
}

const proofOf = (key: Buffer, purpose: string, begun: string) =>
  createHmac("sha256", key).update(`passkey:${purpose}:${begun}`).digest("base64url");
const challengeOf = (made: string) => createHash("sha256").update(made).digest("base64url");

/**
 * The site that a passkey is for. The browser signs the site, and uses a passkey only on the site that it was made on; if the
 * installation knows its own address, the site must be that address.
 */
export function siteOf({ config }: Services, origin: string): { origin: string; rpId: string } {
  if (config.publicUrl && new URL(config.publicUrl).origin !== origin) {
    throw invalid("origin", "Las llaves de acceso valen solo en la dirección de esta instalación.");
  }
  return { origin, rpId: new URL(origin).hostname };
}
