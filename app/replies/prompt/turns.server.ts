import { sql } from "kysely";
import type { Db } from "../../db/engine.server.ts";
import { prepared } from "../../db/prepared.server.ts";
import type { AttachmentRow, MessageRow, SummaryRow } from "../../db/tables.ts";
import { isImage } from "../../files/media-type.server.ts";
import type { Storage } from "../../files/storage/storage.server.ts";
import type { Turn } from "../providers/model-call.server.ts";

export type BranchRow = Pick<MessageRow, "id" | "parentId" | "role" | "content">;
/** The end of a branch, oldest first, and the summary of what came before it, if there is one. */
export type Branch = { rows: BranchRow[]; summary: SummaryRow | undefined };

const rowsAtOnce = 200;
/** Stands for the text of a message that has only files: some model servers refuse an empty text. */
const wordless = "[Enviado sin texto.]";
// Images that model servers take in one request, and no more than a person would look at.
const imagesInPrompt = 8;

/** The messages that lead to a message, including it, back to the newest summary on the way or to the beginning. */
export async function branchTo(
  db: Db,
  message: Pick<MessageRow, "id" | "chatId">,
  { summarised }: { summarised: boolean },
): Promise<Branch> {
  const own = db.selectFrom("summaries").where("chatId", "=", message.chatId).orderBy("id").selectAll();
  const stored = summarised ? await own.execute() : [];
  const summaries = new Map(stored.map((summary) => [summary.upToMessageId, summary]));
  const rows: BranchRow[] = [];
  for (let next: string | null = message.id; next; ) {
    const { rows: page } = await stretch(db, { lastId: next });
    for (const row of page) {
      const summary = summaries.get(row.id);
      if (summary) return { rows: rows.reverse(), summary };
      rows.push(row);
    }
    next = page.length === rowsAtOnce ? (page.at(-1)?.parentId ?? null) : null;
  }
  return { rows: rows.reverse(), summary: undefined };
}

const stretch = prepared(
  (_, { lastId }: { lastId: string }) => sql<BranchRow>`
    with recursive branch as (
      select id, "parentId", role, content, 1 as depth from messages where id = ${lastId}
      union all
      select m.id, m."parentId", m.role, m.content, b.depth + 1 from messages m join branch b on m.id = b."parentId"
      where b.depth < ${rowsAtOnce}
    ) select id, "parentId", role, content from branch order by depth`,
);

/**
 * Converts messages to turns of a prompt. Attached images are included if the model accepts images. Documents, and images
 * that are not included, are named in a line of text.
 */
export async function asTurns(
  storage: Storage,
  rows: BranchRow[],
  attached: AttachedFile[],
  { seesImages, numbers }: { seesImages: boolean; numbers: Map<string, number> },
): Promise<(Turn & { messageId: string; notes: string[] })[]> {
  // A reply without text says nothing and is left out, and providers refuse blanks; a message of a person may consist of files alone.
  const said = rows.filter(({ role, content }) => role === "user" || (role === "assistant" && content.trim() !== ""));
  // A conversation starts with the person: providers refuse anything else.
  while (said[0]?.role === "assistant") said.shift();
  const here = new Set(said.map(({ id }) => id));
  const pictures = attached.filter(
    ({ messageId, fileId, mediaType }) => fileId && isImage(mediaType) && here.has(messageId),
  );
  const shown = new Set(seesImages ? pictures.slice(-imagesInPrompt) : []);
  return Promise.all(
    said.map(async ({ id, role, content }) => {
      const own = attached.filter(({ messageId }) => messageId === id);
      const seen = own.filter((one) => shown.has(one)).flatMap(({ fileId }) => fileId ?? []);
      const images = await Promise.all(seen.map((file) => storage.read(file, "image")));
      const lost = own.filter(({ fileId }) => images.some((image, index) => !image && seen[index] === fileId));
      const notes = own
        .filter((one) => !shown.has(one) || lost.includes(one))
        .map((one) => noteOf(lost.includes(one) ? { ...one, fileId: null } : one, numbers));
      return {
        messageId: id,
        notes,
        role: role as Turn["role"],
        content: [...notes, content || (own.length > 0 ? wordless : "")].join("\n"),
        ...(images.some(Boolean) && { images: images.filter((image) => image !== undefined) }),
      };
    }),
  );
}

export type AttachedFile = Pick<AttachmentRow, "messageId" | "fileId" | "name" | "mediaType"> & {
  /** Whether any text could be read in it. */
  readable: boolean;
};

/** Files that were sent with the messages of a chat, in their order. */
export async function attachedIn(db: Db, chatId: string): Promise<AttachedFile[]> {
  const { rows } = await findAttached(db, { chatId });
  return rows.map((row) => ({ ...row, readable: row.readable === 1 }));
}

const findAttached = prepared((db, { chatId }: Pick<MessageRow, "chatId">) =>
  db
    .selectFrom("attachments as a")
    .innerJoin("messages as m", "m.id", "a.messageId")
    .leftJoin("files as f", "f.id", "a.fileId")
    .where("m.chatId", "=", chatId)
    .orderBy("a.messageId")
    .orderBy("a.position")
    .select(["a.messageId", "a.fileId", "a.name", "a.mediaType"])
    .select(sql<number>`case when f.text is null or f.text = '' then 0 else 1 end`.as("readable")),
);

function noteOf({ fileId, name, mediaType }: AttachedFile, numbers: Map<string, number>): string {
  if (!fileId) return `[Adjunto «${name}», que ya no existe.]`;
  if (isImage(mediaType)) return `[Imagen adjunta «${name}», que no puedes ver. Dilo si hace falta para responder.]`;
  const n = numbers.get(fileId);
  return `[Documento adjunto «${name}»${n ? `: es la fuente [${n}]` : ", del que solo tienes los pasajes citados"}.]`;
}
