import type { Db } from "../../db/engine.server.ts";
import { newRow } from "../../db/rows.server.ts";
import type { MessageRow } from "../../db/tables.ts";
import type { Usage } from "../chunk.ts";
import { ReplyError } from "../errors.server.ts";
import type { ModelAccess } from "../providers/model-call.server.ts";
import { generate, readWhole } from "../providers/providers.server.ts";
import type { Branch, BranchRow } from "./turns.server.ts";

type Asking = {
  model: ModelAccess & { id: string };
  signal: AbortSignal;
  silence: number;
  /** Grows by the usage of each summary, also if a later summary fails. */
  spent: Usage;
};

// Some models think before they write, and that counts.
const tokensAtMost = 4096;
const instructions =
  "Resume la conversación que sigue para poder continuarla sin releerla: hechos, decisiones, nombres, cifras, lo que la persona pidió y lo que quedó pendiente. Si hay un resumen anterior, intégralo. Escribe solo el resumen, en el idioma de la conversación, en menos de 500 palabras.";

/**
 * Makes a branch fit in `room` characters. If it is longer, the model summarises its older part, and the summary is stored.
 * The newest messages, up to about half of the room, are kept unchanged. Throws ReplyError if the model fails.
 */
export async function fitBranch(
  db: Db,
  branch: Branch,
  question: MessageRow,
  room: number,
  asking: Asking,
): Promise<Branch> {
  if (lengthOf(branch.rows) + (branch.summary?.content.length ?? 0) <= room) return branch;
  const rows = [...branch.rows];
  const kept: BranchRow[] = [];
  let left = room / 2;
  for (let last = rows.at(-1); last && (kept.length === 0 || last.content.length <= left); last = rows.at(-1)) {
    left -= last.content.length;
    kept.unshift(last);
    rows.pop();
  }
  // The kept part has to begin with a message of the person, so replies at its start are summarised too.
  while (kept[0] && kept[0].role !== "user" && kept.length > 1) rows.push(...kept.splice(0, 1));
  let { summary } = branch;
  while (rows.length > 0) {
    const piece = takePiece(rows, room / 2);
    const upTo = piece.at(-1);
    if (!upTo) break;
    const content = await summarise(summary?.content, piece, room / 2, asking);
    summary = await store(db, question.chatId, upTo.id, content, asking.model.id);
  }
  return { rows: kept, summary };
}

const lengthOf = (rows: BranchRow[]) => rows.reduce((sum, { content }) => sum + content.length, 0);

/** The oldest messages that fit in `room`, taken off; at least one. */
function takePiece(rows: BranchRow[], room: number): BranchRow[] {
  const piece: BranchRow[] = [];
  let left = room;
  while (rows[0] && (piece.length === 0 || rows[0].content.length <= left)) {
    left -= rows[0].content.length;
    piece.push(...rows.splice(0, 1));
  }
  return piece;
}

/** Adds messages to the summary, in parts of at most `room` characters, because one message may be longer than that. */
async function summarise(before = "", piece: BranchRow[], room: number, asking: Asking): Promise<string> {
  const said = piece
    .map(({ role, content }) => `${role === "user" ? "Persona" : "Asistente"}: ${content}`)
    .join("\n\n");
  let summary = before;
  for (let at = 0; at < said.length; at += room) {
    const part = said.slice(at, at + room).toWellFormed();
    summary = await ask([summary && `Resumen anterior: ${summary}`, part].filter(Boolean).join("\n\n"), asking);
  }
  return summary;
}

async function ask(content: string, { model, signal, silence, spent }: Asking): Promise<string> {
  const prompt = { system: instructions, turns: [{ role: "user" as const, content }] };
  const summarising = { ...model, maxOutputTokens: tokensAtMost, reasoning: null };
  const { text, usage } = await readWhole(generate(summarising, prompt, { signal, silence }));
  spent.inputTokens += usage.inputTokens ?? 0;
  spent.outputTokens += usage.outputTokens ?? 0;
  const summary = text.trim();
  if (!summary) throw ReplyError.empty();
  return summary;
}

async function store(db: Db, chatId: string, upToMessageId: string, content: string, modelId: string) {
  const now = Date.now();
  const tokens = Math.ceil(content.length / 4);
  const row = { ...newRow(now), chatId, upToMessageId, content, modelId, tokens };
  await db.insertInto("summaries").values(row).execute();
  return row;
}
