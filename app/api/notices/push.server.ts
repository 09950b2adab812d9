import { createECDH } from "node:crypto";
import { request } from "node:https";
import type { Db } from "../../db/connection.server.ts";
import type { DeviceRow } from "../../db/tables.ts";
import type { JobAtWork, JobRules } from "../../jobs/jobs.server.ts";
import { AddressNotPublic, isPublicHost, lookupPublic } from "../../process/public-addresses.server.ts";
import type { Services } from "../env.server.ts";
import { endOfReply } from "./reply-end.server.ts";

const minute = 60_000;
// In s: what a device that is off is still told when it is on again.
const keptFor = 24 * 60 * 60;
// In ms.
const patience = 10_000;

type Keys = { publicKey: string; privateKey: string };

/** The pair of keys by which push services know this installation (RFC 8292), in Base64url: derived, so that nothing has to be kept. */
export function vapidKeys(pushKey: Buffer): Keys {
  const pair = createECDH("prime256v1");
  pair.setPrivateKey(pushKey);
  return { publicKey: pair.getPublicKey("base64url"), privateKey: pushKey.toString("base64url") };
}

/** Whether a person is told on any device. */
export const hasDevices = async (db: Db, userId: string): Promise<boolean> =>
  (await db.selectFrom("devices").where("userId", "=", userId).select("id").limit(1).executeTakeFirst()) !== undefined;

/** How the devices of a person are told that a reply has ended; its subject is the reply. */
export const replyPushing = (services: Pick<Services, "db" | "pushKey" | "config" | "log">): JobRules => ({
  atOnce: 2,
  retries: [minute, 5 * minute],
  work: (job) => push(services, job),
});

/** Who was told already is told again if another device could not be reached: the same reply shows one notification. */
async function push(services: Pick<Services, "db" | "pushKey" | "config" | "log">, job: JobAtWork): Promise<void> {
  const { db, log } = services;
  const reply = await endOfReply(db, job.subjectId);
  // Deleted meanwhile.
  if (!reply) return;
  const { userId, chatId, title, said } = reply;
  const notice = JSON.stringify({ title, body: said, path: `/conversation/chat/${chatId}`, tag: job.subjectId });
  const devices = await db.selectFrom("devices").where("userId", "=", userId).selectAll().execute();
  const failed: unknown[] = [];
  for (const device of devices) {
    try {
      const status = await tell(services, device, notice);
      if (!isGone(status)) continue;
      log.info({ status }, "un dispositivo ya no recibe avisos");
      await db.deleteFrom("devices").where("id", "=", device.id).where("endpoint", "=", device.endpoint).execute();
    } catch (error) {
      failed.push(error);
    }
  }
  if (failed.length > 0) throw new AggregateError(failed, "los avisos no llegan a su servicio");
}

/** Hands a notice to the push service of a device; answers its status. Throws where it may be taken later. */
async function tell(
  { pushKey, config }: Pick<Services, "pushKey" | "config">,
  { endpoint, p256dh, auth }: DeviceRow,
  notice: string,
): Promise<number> {
  const { default: webPush } = await import("web-push");
  const subject = config.publicUrl?.startsWith("https:") ? config.publicUrl : "mailto:tertulia@localhost.invalid";
  const { headers, body } = webPush.generateRequestDetails({ endpoint, keys: { p256dh, auth } }, notice, {
    vapidDetails: { subject, ...vapidKeys(pushKey) },
    contentEncoding: "aes128gcm",
    TTL: keptFor,
  });
  const status = await post(endpoint, headers, body).catch((error) => {
    if (error instanceof AddressNotPublic) return 404;
    throw error;
  });
  if (status === 429 || status >= 500) throw new Error(`the push service answers ${status}`);
  return status;
}

// 403 is what comes once the installation has other keys; what is refused in other ways is refused each time.
const isGone = (status: number) => status >= 400;

/** Posts to an address that a browser has named: over TLS and to the public internet only. What is answered is not read. */
async function post(address: string, headers: Record<string, string | number>, body: Buffer | null): Promise<number> {
  const url = new URL(address);
  if (url.protocol !== "https:" || !isPublicHost(url)) throw new AddressNotPublic(url.hostname);
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const asked = request(url, {
    method: "POST",
    headers,
    // A connection of its own: a kept one might lead to an address that the name had before.
    agent: false,
    lookup: lookupPublic,
    signal: AbortSignal.timeout(patience),
  });
  asked.on("response", (answer) => {
    resolve(answer.statusCode ?? 500);
    answer.destroy();
  });
  asked.on("error", reject);
  asked.end(body);
  return promise;
}
