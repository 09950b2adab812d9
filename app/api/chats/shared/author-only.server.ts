import type { Db } from "../../../db/engine.server.ts";
import type { MessageRow } from "../../../db/tables.ts";
import type { Chunk, Source } from "../../../replies/chunk.ts";
import { documentsTool } from "../../../tools/builtin/documents.server.ts";
import type { Person } from "../../env.server.ts";
import { maySeeFile } from "../../http/visibility.server.ts";

/** Reader of a chat; null: a stranger with the link of a shared chat. */
export type ChatReader = Pick<Person, "id" | "sessionId"> | null;

/** Shown in place of output that only the author of a reply may open. */
const kept = "Algo de quien la escribió.";

type Reply = Pick<MessageRow, "userId" | "chatId">;

/** Whether the reader is not the author of a reply, which may quote the author's other chats and files. */
const isElse = (reader: ChatReader, { userId }: Pick<Reply, "userId">) => reader?.id !== userId;

/** The sources of replies as a reader may see them: a shown chat reveals only itself and sources that the reader can open anyway. */
export async function sourcesFor(
  db: Db,
  reader: ChatReader,
  replies: (Reply & { sources: Source[] })[],
): Promise<Source[][]> {
  const asked = replies.filter((reply) => isElse(reader, reply));
  const fileIds = asked.flatMap(({ sources }) => sources.flatMap(({ fileId }) => fileId ?? []));
  const seen = await seenFiles(db, reader, fileIds);
  return replies.map((reply) => {
    if (!isElse(reader, reply)) return reply.sources;
    return reply.sources.map((source) =>
      isOpenTo(source, reply, seen) ? source : { ...hidden, n: source.n, kind: source.kind },
    );
  });
}

const hidden = { title: kept, quote: "", chatId: null, messageId: null, fileId: null, position: null };

function isOpenTo({ kind, chatId, fileId }: Source, reply: Reply, seen: ReadonlySet<string>): boolean {
  if (kind === "message") return chatId === reply.chatId;
  return kind !== "file" || (fileId != null && seen.has(fileId));
}

async function seenFiles(db: Db, reader: ChatReader, fileIds: string[]): Promise<Set<string>> {
  if (reader === null || fileIds.length === 0) return new Set();
  const rows = await db.selectFrom("files").where("id", "in", fileIds).where(maySeeFile(reader)).select("id").execute();
  return new Set(rows.map(({ id }) => id));
}

type Called = { server: string | null; tool: string; output: string };

/** A call as a reader may see it: only the author sees output found in documents and other chats. */
export const callFor = <Call extends Called>(reader: ChatReader, reply: Pick<Reply, "userId">, call: Call): Call =>
  isElse(reader, reply) && call.server === null && call.tool === documentsTool && call.output
    ? { ...call, output: kept }
    : call;

/** The chunks of a reply that is being followed, as a reader may see them. */
export const chunksFor = (db: Db, reader: ChatReader, reply: Reply, chunks: AsyncGenerator<Chunk[]>) =>
  isElse(reader, reply) ? shownChunks(db, reader, reply, chunks) : chunks;

async function* shownChunks(
  db: Db,
  reader: ChatReader,
  reply: Reply,
  chunks: AsyncGenerator<Chunk[]>,
): AsyncGenerator<Chunk[]> {
  for await (const some of chunks) {
    const seen: Chunk[] = [];
    for (const chunk of some) {
      if (chunk.type === "tool") seen.push(callFor(reader, reply, chunk));
      else if (chunk.type === "sources") {
        const [sources = []] = await sourcesFor(db, reader, [{ ...reply, sources: chunk.sources }]);
        seen.push({ ...chunk, sources });
      } else seen.push(chunk);
    }
    yield seen;
  }
}
