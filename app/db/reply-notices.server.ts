import { sql } from "kysely";
import type { Trx } from "./engine.server.ts";
import { prepared } from "./prepared.server.ts";

/** The kind of the jobs that tell people that a reply has ended; their subject is the reply. Jobs that e-mail it wait for its end, too. */
export const replyNotice = "reply-notice" as const;

/** Makes the notices of an ended reply due at once. Call it in the transaction that stores the reply's end. */
export async function releaseNotices(trx: Trx, messageId: string): Promise<void> {
  await makeDue(trx, { messageId });
}

const makeDue = prepared((db, { messageId }: { messageId: string }) =>
  db
    .updateTable("jobs")
    .set({ dueAt: sql.lit(0) })
    .where("subjectId", "=", messageId)
    .where("kind", "in", [sql.lit(replyNotice), sql.lit("mail-answer" as const)])
    .where("state", "=", sql.lit("waiting")),
);
