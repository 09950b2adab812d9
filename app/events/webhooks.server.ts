import type { Db } from "../db/engine.server.ts";
import type { SharedClock } from "../db/processes/clock.server.ts";
import type { WebhookRow } from "../db/tables.ts";
import type { JobRules } from "../jobs/jobs.server.ts";
import { tryDecrypt } from "../process/crypto.server.ts";
import { postSigned } from "./webhook.server.ts";

type WebhookServices = { db: Db; clock: SharedClock; toolKey: Buffer };

const minute = 60_000;
const retries = [minute, 5 * minute, 30 * minute, 2 * 60 * minute, 6 * 60 * minute];

/** The address has not taken a message; the error's own message is a sentence for people. */
export class NotTaken extends Error {
  override name = "NotTaken";
}

/** Job rules that send events to other programs: each message is tried until it is taken, for nine hours at most. */
export const tellingWebhooks = ({ db, clock, toolKey }: WebhookServices): JobRules => ({
  atOnce: 4,
  retries,
  async work({ id, subjectId, data }) {
    const row = await db.selectFrom("webhooks").where("id", "=", subjectId).selectAll().executeTakeFirst();
    if (row?.enabled !== 1) return;
    const now = clock.now();
    const outcome = await send(row, toolKey, { id, body: data }).catch((error: unknown) => {
      if (error instanceof NotTaken) return error;
      throw error;
    });
    const problem = outcome?.message ?? null;
    if (problem !== row.problem || problem !== null)
      await db.updateTable("webhooks").set({ problem, triedAt: now }).where("id", "=", row.id).execute();
    if (outcome) throw outcome;
  },
});

/** Sends a message to the address of a webhook. Throws NotTaken. */
export async function send(
  { id: rowId, address, secret }: Pick<WebhookRow, "id" | "address" | "secret">,
  toolKey: Buffer,
  message: { id: string; body: string },
): Promise<void> {
  const opened = secret === null ? undefined : tryDecrypt(secret, toolKey, rowId);
  if (secret !== null && opened === undefined) {
    throw new NotTaken("Su secreto se guardó con otra clave maestra: escríbelo otra vez.");
  }
  const status = await postSigned({ url: address, secret: opened, ...message }).catch((cause: Error) => {
    throw new NotTaken(cause.name === "TimeoutError" ? "Tarda demasiado en contestar." : "No se ha podido llegar.", {
      cause,
    });
  });
  if (status < 200 || status > 299) throw new NotTaken(`Ha contestado ${status}.`);
}
