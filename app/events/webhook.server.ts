import { createHmac } from "node:crypto";
import type { EventsDestination } from "../process/events-url.server.ts";
import type { SecurityEvent } from "./security-event.server.ts";

// In ms.
const patience = 10_000;

type SignedMessage = { url: string; secret: string | undefined; id: string; body: string };

/**
 * Posts JSON, signed as Standard Webhooks 1.0 has it where there is a secret (`webhook-signature`: HMAC-SHA-256 of id, time and body).
 * Returns the status; rejects where there is no answer.
 */
export async function postSigned({ url, secret, id, body }: SignedMessage): Promise<number> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = secret && createHmac("sha256", keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest("base64");
  const answer = await fetch(url, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": timestamp,
      ...(signature && { "webhook-signature": `v1,${signature}` }),
    },
    body,
    redirect: "error",
    signal: AbortSignal.timeout(patience),
  });
  await answer.body?.cancel();
  return answer.status;
}

/** Sends events of the audit trail to an address. Rejects unless it is answered with 2xx. */
export async function sendWebhook(
  { url, secret }: Extract<EventsDestination, { kind: "webhook" }>,
  events: SecurityEvent[],
): Promise<void> {
  // The same events sent again are the same message, with the same id; with more events it is another message.
  const id = `${events[0]?.id}.${events.at(-1)?.id}`;
  const status = await postSigned({ url, secret, id, body: JSON.stringify({ type: "audit", events }) });
  if (status < 200 || status > 299) throw new Error(`EVENTS_URL contesta ${status}`);
}

/** The key of a secret: the bytes behind `whsec_` in base64, as Standard Webhooks has it, else its letters. */
const keyOf = (secret: string): Buffer =>
  secret.startsWith("whsec_") ? Buffer.from(secret.slice("whsec_".length), "base64") : Buffer.from(secret);
