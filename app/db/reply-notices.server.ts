import { sql } from "kysely";
import type { Trx } from "./engine.server.ts";
import { prepared } from "./prepared.server.ts";

/** The kind of the jobs that tell people that a reply has ended; their subject is the reply. Those that send it by e-mail wait for that, too. */
export const replyNotice = "reply-notice" as const;

/** Makes the notices of a reply that has ended due at once. In the transaction that stores its end. */
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
