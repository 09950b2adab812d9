import type { Db, Trx } from "../../db/engine.server.ts";
import { isTaken } from "../../db/errors.server.ts";
import { newRow } from "../../db/rows.server.ts";
import type { MessageRow, ModelRow } from "../../db/tables.ts";
import { objectOf } from "../../process/text/json.ts";
import { Busy, CannotReply } from "../cannot-reply.server.ts";
import { partsOf, storedParts, storeParts, type ToolPart } from "../parts.server.ts";
import type { Runs } from "../running/runs.server.ts";
import { reserveUsage } from "../usage.server.ts";
import type { Call } from "./call.ts";
import { hashOf } from "./shown-call.server.ts";

/** A person's decision about a call that waits for them. */
export type Decision = {
  /** The place of the call in the reply, and the hash of exactly what the person was shown. */
  n: number;
  hash: string;
  /** `chat`: this tool needs no more asking in this conversation. */
  verdict: "once" | "chat" | "no";
  /** The input as the person has changed it, as JSON. */
  input?: string | undefined;
  /** The person's reason for a no; the model is told. */
  why?: string | undefined;
  /** Answer to a question of the tool. */
  answer?: Record<string, unknown> | undefined;
};

type Deciding = {
  reply: MessageRow;
  decision: Decision;
  /** The model that goes on with the reply. */
  model: ModelRow;
  zone: string;
  /** Records the decision in the audit trail, in the same transaction. */
  record(trx: Trx, part: ToolPart): Promise<void>;
};

/** In ms: a yes to something that was asked a month ago may not be meant any more. */
const askedFor = 30 * 24 * 60 * 60_000;

/**
 * Takes a person's decision about a call. It is valid once, and only for exactly what was shown. When nothing is left to decide,
 * the reply goes on. Throws CannotReply, LimitReached.
 */
export async function decide({ db, runs }: { db: Db; runs: Runs }, deciding: Deciding): Promise<{ goesOn: boolean }> {
  const { decision, model, zone } = deciding;
  const now = Date.now();
  const signature = runs.signature();
  const { goesOn, reply } = await inTransaction(db, async (trx) => {
    // Locks the reply: two decisions about two of its calls must not both take the other for undecided.
    const reply = await trx
      .updateTable("messages")
      .set({ updatedAt: now })
      .where("id", "=", deciding.reply.id)
      .returningAll()
      .executeTakeFirst();
    if (!reply) throw new CannotReply("n", "Esta respuesta ya no existe.");
    const parts = partsOf(reply.content, await storedParts(trx, reply.id));
    const part = parts[decision.n];
    if (part?.kind !== "tool" || reply.role !== "assistant")
      throw new CannotReply("n", "No hay ninguna llamada en ese lugar.");
    if (part.status !== "waiting") throw new CannotReply("n", "Sobre esto ya se decidió.");
    if (hashOf(part.call) !== decision.hash) {
      throw new CannotReply(
        "hash",
        "Lo que se pide ha cambiado desde que se enseñó. Míralo otra vez antes de decidir.",
      );
    }
    if (decision.verdict !== "no" && now - part.startedAt > askedFor) {
      throw new CannotReply("n", "Esto se preguntó hace más de un mes y ya no se puede permitir. Pídelo otra vez.");
    }
    if (reply.status !== "waiting") throw new CannotReply("n", "Esta respuesta ya no espera ninguna decisión.");
    const decided = afterDecision(part, decision, now);
    await storeParts(trx, reply.id, [{ n: decision.n, part: decided }], now);
    if (decision.verdict === "chat" && !part.call.asksAlways) await grant(trx, reply.chatId, part.call, now);
    await deciding.record(trx, decided);
    parts[decision.n] = decided;
    if (parts.some((one) => one.kind === "tool" && one.status === "waiting")) return { goesOn: false, reply };
    await reserveUsage(trx, reply.userId, model.id, now, { messages: 0 });
    const { numUpdatedRows } = await trx
      .updateTable("messages")
      .set({ status: "streaming", error: null, finishedAt: null, ...signature, updatedAt: now, modelId: model.id })
      .where("id", "=", reply.id)
      .where("status", "=", "waiting")
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw new CannotReply("n", "Esta respuesta ya no espera ninguna decisión.");
    return { goesOn: true, reply };
  });
  if (!goesOn) return { goesOn };
  const question = await db
    .selectFrom("messages")
    .where("id", "=", reply.parentId)
    .selectAll()
    .executeTakeFirstOrThrow();
  const parts = partsOf(reply.content, await storedParts(db, reply.id));
  runs.start({ ...reply, ...signature, status: "streaming" }, question, model, { parts, zone });
  return { goesOn };
}

async function inTransaction<Result>(db: Db, work: (trx: Trx) => Promise<Result>): Promise<Result> {
  try {
    return await db.transaction().execute(work);
  } catch (error) {
    // Another reply is being written in this chat.
    throw isTaken(error) ? new Busy() : error;
  }
}

/** The call as it is after the decision. An allowed call has not begun. */
function afterDecision(part: ToolPart, { verdict, input, why, answer }: Decision, now: number): ToolPart {
  const { question, schema: _shown, ...call } = part.call;
  if (verdict === "no") {
    const because = why ? ` Dice: «${why}».` : "";
    const text = question
      ? `La persona no ha querido contestar a la herramienta.${because}`
      : `La persona no ha permitido esta llamada.${because} No la repitas sin que te lo pida.`;
    return { ...part, status: "refused", text, finishedAt: now, call };
  }
  if (question) {
    const answers = [...(call.answers ?? []), { question, answer: answer ?? {} }];
    return { ...part, status: "allowed", call: { ...call, answers } };
  }
  if (input === undefined || same(input, call.input)) return { ...part, status: "allowed", call };
  if (!objectOf(input)) throw new CannotReply("input", "Los datos no son un objeto JSON.");
  return { ...part, status: "allowed", call: { ...call, input, edited: true } };
}

const same = (a: string, b: string) => JSON.stringify(objectOf(a)) === JSON.stringify(objectOf(b));

async function grant(db: Db, chatId: string, { toolId, tool: name, version = "" }: Call, now: number): Promise<void> {
  if (!toolId) return;
  await db
    .insertInto("grants")
    .values({ ...newRow(now), chatId, toolId, name, version })
    .onConflict((conflict) => conflict.columns(["chatId", "toolId", "name"]).doUpdateSet({ version, updatedAt: now }))
    .execute();
}
