import type { Db } from "../db/engine.server.ts";
import { prepared } from "../db/prepared.server.ts";
import type { ChatRow, MessageRow, ModelRow } from "../db/tables.ts";
import { limits } from "../process/limits.ts";
import type { Log } from "../process/log.server.ts";
import { cutText } from "../process/text/cut-text.ts";
import { objectOf } from "../process/text/json.ts";
import { describeCause, ReplyError } from "./errors.server.ts";
import { generate, readWhole } from "./providers/providers.server.ts";
import { settleInChat } from "./usage.server.ts";

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

/**
 * Asks the model for a title after the first exchange; undefined if it made none. Its tokens are charged as those of a reply. Never throws.
 */
export async function makeTitle(
  db: Db,
  question: MessageRow,
  reply: string,
  model: ModelRow,
  { log, silence }: { log: Log; silence: number },
): Promise<string | undefined> {
  try {
    if (question.parentId) return;
    const [chat] = (await findTitled(db, { chatId: question.chatId })).rows;
    if (chat?.titled !== 0) return;
    const exchange = `${cutText(question.content, 1500)}\n\n---\n\n${cutText(reply, 1500)}`;
    const prompt = {
      system:
        "Pon título a esta conversación: de tres a seis palabras, en el idioma de la persona, sin comillas ni punto. Contesta solo con el título.",
      turns: [{ role: "user" as const, content: exchange }],
    };
    const signal = AbortSignal.timeout(Math.min(silence, 15_000));
    // Room for models that think before they write.
    const titling = { ...model, maxOutputTokens: 512, reasoning: null };
    const { text, reason, usage } = await readWhole(generate(titling, prompt, { signal, silence }));
    const { inputTokens = 0, outputTokens = 0 } = usage;
    await settleInChat(db, question, model, { ...usage, inputTokens, outputTokens });
    // A text that was cut at the limit is a thought, not a title.
    const title = reason === "length" ? "" : cleanTitle(text);
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

/** The title in an answer: without labels, marks of lists and of Markdown around it, quotes, and the final point. */
export function cleanTitle(text: string): string {
  const told = objectOf(text.replace(/^\s*```\w*\n|```\s*$/g, ""));
  const lines = (typeof told?.title === "string" ? told.title : text).split("\n").map((line) => bareLine(line));
  // A line that announces the title ends in a colon.
  return cutText(lines.find((line) => line && !line.endsWith(":")) ?? "", limits.chatTitle).trim();
}

const pairs = [
  /^\*{1,3}(.+?)\*{1,3}$/,
  /^_{1,2}(.+?)_{1,2}$/,
  /^`(.+)`$/,
  /^"([^"]+)"$/,
  /^'([^']+)'$/,
  /^«([^«»]+)»$/,
  /^“([^“”]+)”$/,
];

/** A line without what models put around a title, as often as it is there. */
function bareLine(line: string): string {
  let bare = cutText(line, 2 * limits.chatTitle).trim();
  for (let before = ""; before !== bare; ) {
    before = bare;
    bare = bare
      .replace(/^(?:```\w*|#{1,6}\s+|[-*+]\s+|\d{1,2}[.)]\s+|<\/?title>)/i, "")
      .replace(/^(?:t[ií]tulo(?: sugerido)?|title)\s*:\s*/i, "")
      .replace(/<\/title>$/i, "")
      .replace(/(?<=[^.])\.$/, "")
      .trim();
    for (const pair of pairs) bare = bare.replace(pair, "$1").trim();
  }
  return bare;
}
