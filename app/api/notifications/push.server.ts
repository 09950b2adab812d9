import type { Db } from "../../db/engine.server.ts";
import type { DeviceRow } from "../../db/tables.ts";
import type { JobAtWork, JobRules } from "../../jobs/jobs.server.ts";
import { storedJson } from "../../process/text/json.ts";
import type { Services } from "../env.server.ts";
import { type Handed, handOver } from "./push-service.server.ts";
import { endOfReply } from "./reply-end.server.ts";

const minute = 60_000;
const retries = [minute, 5 * minute];

type Given = Pick<Services, "db" | "pushKeys" | "config" | "log">;

/** Owner of the reply, and the session of a temporary chat. */
type Told = { userId: string; sessionId: string | null };

/** Whether any device is told of a reply. */
export const hasDevices = async (db: Db, told: Told): Promise<boolean> => (await devicesFor(db, told)).length > 0;

/** How the devices of a person are told that a reply has ended; its subject is the reply. */
export const replyPushing = (services: Given): JobRules => ({
  atOnce: 2,
  retries,
  work: (job) => push(services, job),
});

/** Tells all devices at once. A notice that was not taken is tried again; a device that has refused it each time is forgotten. */
async function push(services: Given, job: JobAtWork): Promise<void> {
  const { db, log } = services;
  const reply = await endOfReply(db, job.subjectId, services.config);
  // Deleted meanwhile.
  if (!reply) return;
  const { told = [] } = storedJson<{ told?: string[] }>(job.data);
  const devices = (await devicesFor(db, reply)).filter(({ id }) => !told.includes(id));
  const { userId, chatId, title, said } = reply;
  const path = `/conversation/chat/${chatId}`;
  const notice = JSON.stringify({ to: userId, title, body: said, path, tag: job.subjectId });
  const handed = await Promise.all(
    devices.map(async (device) => ({ device, ...(await handOver(services, device, notice)) })),
  );
  const isLast = job.attempts > retries.length;
  const isGone = ({ state }: Handed) => state === "gone" || (state === "refused" && isLast);
  await forget(db, log, handed.filter(isGone));
  const reasons = handed.flatMap((one) => ("why" in one && !isGone(one) ? one.why : []));
  if (reasons.length === 0) return;
  const taken = handed.filter(({ state }) => state === "taken").map(({ device }) => device.id);
  await job.remember(JSON.stringify({ told: [...told, ...taken] }));
  throw new Error(`los avisos no llegan a su servicio (${[...new Set(reasons)].join(", ")})`);
}

/** Devices that are told of a reply; for a temporary chat, only the browser of its session. */
const devicesFor = (db: Db, { userId, sessionId }: Told): Promise<DeviceRow[]> =>
  db
    .selectFrom("devices")
    .where("userId", "=", userId)
    .$if(sessionId !== null, (query) => query.where("sessionId", "=", sessionId ?? ""))
    .selectAll()
    .execute();

async function forget(db: Db, log: Given["log"], gone: ({ device: DeviceRow } & Handed)[]): Promise<void> {
  for (const { device, state } of gone) {
    log.info({ state }, "un dispositivo ya no recibe avisos");
    // A device that was registered again meanwhile has another id, and stays.
    await db.deleteFrom("devices").where("id", "=", device.id).execute();
  }
}
