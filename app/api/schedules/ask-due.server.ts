import type { ScheduleRow } from "../../db/tables.ts";
import type { JobRules } from "../../jobs/jobs.server.ts";
import { CannotReply } from "../../replies/cannot-reply.server.ts";
import { LimitReached } from "../../replies/usage.server.ts";
import { start } from "../chats/conversation.server.ts";
import type { Services } from "../env.server.ts";
import { storeErrand, usualBounds } from "../errands/new-errand.server.ts";
import { findPerson, refuseInactive } from "../http/authentication.server.ts";
import { Problem } from "../http/problem.server.ts";
import { addReplyNotice } from "../notifications/reply-notices.server.ts";
import { tellLimit } from "../webhooks/limit-reached.server.ts";
import { nextTime } from "./next-time.server.ts";
import { daysOf, placesOf } from "./schedules.server.ts";

const every = 20_000;
// Questions of one turn, so that thousands that are due at eight don't start within one second.
const atOnce = 20;
// In ms. A question that is later than this, because the server was off, waits for its next time.
const latest = 12 * 60 * 60_000;

/** How scheduled questions are asked: by one process, a few at a time. */
export const askingDue = (services: Services): JobRules => ({
  atOnce: 1,
  retries: [],
  every,
  work: ({ signal }) => askDue(services, signal),
});

/** Asks what is due now, and notes what came of it. `signal`: the process ends. */
export async function askDue(services: Services, signal: AbortSignal): Promise<void> {
  for (const due of await dueNow(services)) {
    if (signal.aborted) return;
    await ask(services, due);
  }
}

const dueNow = ({ db, clock }: Services) =>
  db
    .selectFrom("schedules")
    .where("enabled", "=", 1)
    .where("nextAt", "<=", clock.now())
    .orderBy("nextAt")
    .limit(atOnce)
    .selectAll()
    .execute();

/** Asks once, and notes when the next time is. If the process dies in between, the key of the message keeps it from being asked twice. */
async function ask(services: Services, due: ScheduleRow): Promise<void> {
  const { db, clock, changes } = services;
  const now = clock.now();
  const came = await began(services, due, now);
  await db
    .updateTable("schedules")
    .set({ ...came, nextAt: nextTime({ ...due, days: daysOf(due) }, now) })
    .where("id", "=", due.id)
    // The owner may have chosen another time meanwhile, which stays.
    .where("nextAt", "=", due.nextAt)
    .execute();
  changes.tell({ userId: due.userId, what: "schedule" });
}

/** Outcome of asking: where the reply is being written, or why there is none. */
async function began(services: Services, due: ScheduleRow, now: number): Promise<Partial<ScheduleRow>> {
  if (now - due.nextAt > latest) return { problem: "A esa hora el servidor estaba apagado." };
  try {
    const person = await findPerson(services, due.userId);
    if (!person) return {};
    refuseInactive(person);
    const { content, modelId, assistantId } = due;
    const key = `schedule:${due.id}:${due.nextAt}`;
    const looksIn = placesOf(due);
    if (looksIn) {
      const given = { ...usualBounds, question: content, modelId: modelId ?? undefined, looksIn, key };
      const errand = await storeErrand(services, person, { ...given, notifies: Number(due.tells) === 1 });
      return { askedAt: now, errandId: errand.id, chatId: null, problem: null };
    }
    const asked = { content, temporary: false, keepDraft: true, key, assistantId };
    const reply = await start(services, person, { ...asked, ...(modelId && { modelId }) }, due.zone);
    if (due.tells) await addReplyNotice(services, { id: reply.messageId, userId: due.userId, status: "streaming" });
    services.changes.tell({ userId: due.userId, what: "chat" });
    return { askedAt: now, chatId: reply.chatId, errandId: null, problem: null };
  } catch (error) {
    if (error instanceof LimitReached && error.ofPlan) await tellLimit(services, due.userId, error);
    if (error instanceof Problem || error instanceof LimitReached || error instanceof CannotReply) {
      return { problem: error.message };
    }
    services.log.error({ err: error, schedule: due.id }, "no se pudo hacer una pregunta programada");
    return { problem: "Algo ha fallado en el servidor." };
  }
}
