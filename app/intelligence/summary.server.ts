import { v7 as newId } from "uuid";
import type { Db } from "../db/connection.server.ts";
import type { MessageRow, SummaryRow } from "../db/tables.ts";
import type { Usage } from "./chunk.ts";
import { generate, type ModelAccess } from "./providers.server.ts";
import type { Branch, BranchRow } from "./turns.server.ts";

type Summarised = Branch & { spent: Usage };
type Asking = { model: ModelAccess & { id: string }; signal: AbortSignal; silence: number };

const summaryTokens = 800;
const instructions =
  "Resume la conversación que sigue para poder continuarla sin releerla: hechos, decisiones, nombres, cifras, lo que la persona pidió y lo que quedó pendiente. Si hay un resumen anterior, intégralo. Escribe solo el resumen, en el idioma de la conversación, en menos de 500 palabras.";

/**
 * A branch that fits in `room` characters: where it does not, its older part is summarised by the model and that is stored
 * (product.md §5). The newest messages, in about half of the room, stay as they are. Throws ReplyError where the model fails.
 */
export async function fitBranch(
  db: Db,
  branch: Branch,
  question: MessageRow,
  room: number,
  asking: Asking,
): Promise<Summarised> {
  const spent = { inputTokens: 0, outputTokens: 0 };
  if (lengthOf(branch.rows) + (branch.summary?.content.length ?? 0) <= room) return { ...branch, spent };
  const rows = [...branch.rows];
  const kept: BranchRow[] = [];
  let left = room / 2;
  for (let last = rows.at(-1); last && (kept.length === 0 || last.content.length <= left); last = rows.at(-1)) {
    left -= last.content.length;
    kept.unshift(last);
    rows.pop();
  }
  let { summary } = branch;
  while (rows.length > 0) {
    const piece = takePiece(rows, room / 2);
    const made = await summarise(summary, piece, asking);
    spent.inputTokens += made.usage.inputTokens ?? 0;
    spent.outputTokens += made.usage.outputTokens ?? 0;
    const upTo = piece.at(-1);
    if (!upTo) break;
    summary = await store(db, question.chatId, upTo.id, made.text, asking.model.id);
  }
  return { rows: kept, summary, spent };
}

const lengthOf = (rows: BranchRow[]) => rows.reduce((sum, { content }) => sum + content.length, 0);

/** The oldest messages that fit in `room`, taken off; at least one. */
function takePiece(rows: BranchRow[], room: number): BranchRow[] {
  const piece: BranchRow[] = [];
  let left = room;
  while (rows[0] && (piece.length === 0 || rows[0].content.length <= left)) {
    left -= rows[0].content.length;
    piece.push(rows.shift() as BranchRow);
  }
  return piece;
}

async function summarise(before: SummaryRow | undefined, piece: BranchRow[], { model, signal, silence }: Asking) {
  const said = piece.map(({ role, content }) => `${role === "user" ? "Persona" : "Asistente"}: ${content}`);
  const content = [before && `Resumen anterior: ${before.content}`, ...said].filter(Boolean).join("\n\n");
  const prompt = { system: instructions, turns: [{ role: "user" as const, content }] };
  let text = "";
  let usage: Partial<Usage> = {};
  for await (const part of generate({ ...model, maxOutputTokens: summaryTokens }, prompt, { signal, silence })) {
    if (part.type === "text") text += part.text;
    else usage = part.usage;
  }
  return { text: text.replace(/<think>[\s\S]*?<\/think>/g, "").trim(), usage };
}

async function store(db: Db, chatId: string, upToMessageId: string, content: string, modelId: string) {
  const now = Date.now();
  const tokens = Math.ceil(content.length / 4);
  const row = { id: newId(), createdAt: now, updatedAt: now, chatId, upToMessageId, content, modelId, tokens };
  await db.insertInto("summaries").values(row).execute();
  return row;
}
