import { createECDH } from "node:crypto";
import { request } from "node:https";
import type { DeviceRow } from "../../db/tables.ts";
import type { Config } from "../../process/config.server.ts";
import { faultOf } from "../../process/fault.ts";
import { AddressNotPublic, isPublicHost, lookupPublic } from "../../process/network/public-addresses.server.ts";

// In s: how long a service keeps a notice for a device that is off.
const keptFor = 24 * 60 * 60;
// In ms.
const patience = 10_000;

/** A pair of keys of P-256, in Base64url. */
export type PushKeys = { publicKey: string; privateKey: string };

/** The key pair by which push services know this installation (RFC 8292), made from 32 bytes of its secret: nothing is stored. */
export function vapidKeys(seed: Buffer): PushKeys {
  const pair = createECDH("prime256v1");
  pair.setPrivateKey(seed);
  return { publicKey: pair.getPublicKey("base64url"), privateKey: seed.toString("base64url") };
}

/**
 * Outcome of a notice. `taken`: the service has it. `gone`: the service does not know the device any more. `refused`: the service rejects
 * it, as with keys other than those of the registration. `unreachable`: the service fails for now. `why`: a status, or an error code.
 */
export type Handed = { state: "taken" | "gone" } | { state: "refused" | "unreachable"; why: string };

/** Hands a notice to the push service of a device, encrypted for it (RFC 8291). */
export async function handOver(
  { pushKeys, config }: { pushKeys: PushKeys; config: Pick<Config, "publicUrl"> },
  { endpoint, p256dh, auth }: DeviceRow,
  notice: string,
): Promise<Handed> {
  const { default: webPush } = await import("web-push");
  const subject = config.publicUrl?.startsWith("https:") ? config.publicUrl : "mailto:tertulia@localhost.invalid";
  const { headers, body } = webPush.generateRequestDetails({ endpoint, keys: { p256dh, auth } }, notice, {
    vapidDetails: { subject, ...pushKeys },
    contentEncoding: "aes128gcm",
    TTL: keptFor,
  });
  try {
    return judge(await post(new URL(endpoint), headers, body));
  } catch (error) {
    const { code, name } = faultOf(error);
    return { state: "unreachable", why: code || name };
  }
}

function judge(status: number): Handed {
  if (status < 400) return { state: "taken" };
  if (status === 404 || status === 410) return { state: "gone" };
  const passes = status === 408 || status === 429 || status >= 500;
  return { state: passes ? "unreachable" : "refused", why: String(status) };
}

class NoAnswer extends Error {
  override name = "NoAnswer";
}

/** Posts to an address that a browser has named: over TLS and to the public internet only. The answer is not read. */
function post(url: URL, headers: Record<string, string | number>, body: Buffer | null): Promise<number> {
  if (url.protocol !== "https:" || !isPublicHost(url)) throw new AddressNotPublic(url.hostname);
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const asked = request(url, {
    method: "POST",
    headers,
    // A new connection: a kept connection might lead to an address that the host name had before.
    agent: false,
    lookup: lookupPublic,
    signal: AbortSignal.timeout(patience),
  });
  asked.on("response", (answer) => {
    resolve(answer.statusCode ?? 500);
    answer.destroy();
  });
  asked.on("error", reject);
  // After a 101 that nobody asked for, Node emits only this event.
  asked.on("close", () => reject(new NoAnswer()));
  asked.end(body);
  return promise;
}
