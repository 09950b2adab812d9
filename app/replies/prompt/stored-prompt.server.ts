import type { Db } from "../../db/engine.server.ts";
import { prepared } from "../../db/prepared.server.ts";
import { newRow } from "../../db/rows.server.ts";
import type { PromptRow } from "../../db/tables.ts";
import type { ToolCall, ToolResult, Turn } from "../providers/model-call.server.ts";

/** A part of the system prompt: its text, or the document that stands there whole. */
export type StoredPart = { title: string; text: string } | { title: string; n: number; name: string; fileId: string };

/** A model's prompt as it is kept. It refers to messages and documents; copies would store a long chat again with each reply. */
export type StoredPrompt = {
  parts: StoredPart[];
  turns: // `title`: only in turns of the house, which stand beside those of the person and the model.
  (
    | (Pick<Turn, "role" | "content"> & { calls?: Pick<ToolCall, "name" | "input">[]; title?: string })
    | ToolResult
    | { messageId: string; notes: string[]; images: number }
  )[];
  /** Whether identifiers were hidden: marks went out in their place. */
  pseudonyms?: true;
  /** Other ways to say the question, which the model gave to search for. */
  searched?: string[];
  /** The names of the tools that were offered. */
  tools?: string[];
};

/** A whole document as the model reads it. */
export const wholeSaid = ({ n, name }: { n: number; name: string }, text: string) =>
  `[${n}] ${name}\n${text.replaceAll("\f", "\n\n")}`;

/** Keeps the prompt of a reply, in place of its earlier prompt. Call it in a transaction. */
export async function storePrompt(db: Db, messageId: string, prompt: StoredPrompt): Promise<void> {
  const now = Date.now();
  await putPrompt(db, { ...newRow(now), messageId, content: JSON.stringify(prompt) });
}

const putPrompt = prepared((db, row: PromptRow) =>
  db
    .insertInto("prompts")
    .values(row)
    .onConflict((conflict) =>
      conflict.column("messageId").doUpdateSet({ content: row.content, updatedAt: row.updatedAt }),
    ),
);
