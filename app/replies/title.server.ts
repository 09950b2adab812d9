import type { Db } from "../db/engine.server.ts";
import { prepared } from "../db/prepared.server.ts";
import type { ChatRow, MessageRow } from "../db/tables.ts";
import { limits } from "../process/limits.ts";
import type { Log } from "../process/log.server.ts";
import { cutText } from "../process/text/cut-text.ts";
import { describeCause, ReplyError } from "./errors.server.ts";
import type { ModelAccess } from "./providers/model-call.server.ts";
import { generate, readWhole } from "./providers/providers.server.ts";

// In UTF-16 units, of a provisional title.
const titleLength = 60;

/** The provisional title of a chat: its first words. */
export function firstWords(content: string): string {
  const line =
    content
      .replace(/```[\s\S]*?(```|$)/g, " ")
      .replace(/\s+/g, " ")
      .trim() || cutText(content.trim(), titleLength);
  if (line.length <= titleLength) return line;
  return `${cutText(line, titleLength).replace(/\s+\S*$/, "")}…`;
}

/** Asks the model for a title after the first exchange; undefined if it made none. Never throws. */
export async function makeTitle(
  db: Db,
  question: MessageRow,
  reply: string,
  model: ModelAccess,
  { log, silence }: { log: Log; silence: number },
): Promise<string | undefined> {
  try {
    if (question.parentId) return;
    const [chat] = (await findTitled(db, { chatId: question.chatId })).rows;
    if (chat?.titled !== 0) return;
    const exchange = `${question.content.slice(0, 1500)}\n\n---\n\n${reply.slice(0, 1500)}`;
    const prompt = {
      system:
        "Pon título a esta conversación: de tres a seis palabras, en el idioma de la persona, sin comillas ni punto. Contesta solo con el título.",
      turns: [{ role: "user" as const, content: exchange }],
    };
    const signal = AbortSignal.timeout(Math.min(silence, 15_000));
    // Room for models that think before they write.
    const titling = { ...model, maxOutputTokens: 512, reasoning: null };
    const { text } = await readWhole(generate(titling, prompt, { signal, silence }));
    const title = cleanTitle(text);
    if (!title) return;
    const { numAffectedRows } = await putTitle(db, { chatId: question.chatId, title, updatedAt: Date.now() });
    return numAffectedRows ? title : undefined;
  } catch (error) {
    log.info(
      { chatId: question.chatId, cause: error instanceof ReplyError ? describeCause(error) : String(error) },
      "el modelo no puso título",
    );
  }
}

const findTitled = prepared((db, { chatId }: { chatId: string }) =>
  db.selectFrom("chats").where("id", "=", chatId).select("titled"),
);

const putTitle = prepared((db, { chatId, ...set }: { chatId: string } & Pick<ChatRow, "title" | "updatedAt">) =>
  db
    .updateTable("chats")
    .set({ ...set, titled: 1 })
    .where("id", "=", chatId)
    .where("titled", "=", 0),
);

function cleanTitle(text: string): string {
  const [line = ""] = text.trimStart().split("\n", 1);
  const title = cutText(line, 2 * limits.chatTitle)
    .replace(/[*_`]{1,3}|^#+\s*/g, "")
    .replace(/^[\s"'«“]+|[\s"'»”.]+$/g, "");
  return cutText(title, limits.chatTitle).trim();
}
