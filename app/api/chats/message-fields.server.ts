import { z } from "@hono/zod-openapi";
import type { Db } from "../../db/engine.server.ts";
import type { MessageRow } from "../../db/tables.ts";
import { storedJson } from "../../process/text/json.ts";
import type { Source } from "../../replies/chunk.ts";
import {
  beginningsOfParts,
  endOfText,
  type PartBeginning,
  partsOf,
  type StoredReplyPart,
  storedParts,
  timeOf,
} from "../../replies/parts.server.ts";
import { showCall } from "../../replies/tools/shown-call.server.ts";
import { isoOrNull, rowFields, timesOf, withheld } from "../http/schemas.server.ts";
import { type ChatReader, callFor, sourcesFor } from "./shared/author-only.server.ts";

const source = z
  .object({
    n: z.number(),
    kind: z.enum(["message", "training", "file", "page"]),
    title: z.string(),
    quote: z.string(),
    chatId: z.string().nullable(),
    messageId: z.string().nullable(),
    fileId: z.string().nullable().optional(),
    position: z.number().nullable().optional().openapi({ description: "El pasaje del archivo, contado desde 0." }),
    url: z.string().optional().openapi({ description: "De una página de la web, su dirección." }),
    isListed: z.boolean().optional().openapi({ description: "Si su dirección viene de una lista de resultados." }),
    readAt: z.number().optional().openapi({ description: "Cuándo se leyó esa página, en milisegundos desde 1970." }),
  })
  .openapi("Source");

export const attachment = z
  .object({
    fileId: z.string().nullable().openapi({ description: "null: el archivo se ha eliminado." }),
    name: z.string(),
    mediaType: z.string(),
    size: z.number().nullable(),
    width: z.number().nullable(),
    height: z.number().nullable(),
    pages: z.number().nullable(),
  })
  .openapi("Attachment");

const part = z
  .discriminatedUnion("kind", [
    z.object({ n: z.number(), kind: z.literal("text"), text: z.string() }),
    z.object({
      n: z.number(),
      kind: z.literal("reasoning"),
      text: z.string(),
      whole: z.boolean().openapi({ description: "false en las listas, si es largo y `text` es solo su principio." }),
      running: z.boolean(),
      ms: z.number().nullable().openapi({ description: "Lo que pensó, en milisegundos; null si no se sabe." }),
    }),
    z.object({
      n: z.number(),
      kind: z.literal("tool"),
      name: z.string().openapi({ description: "Como la llama el modelo." }),
      tool: z.string().openapi({ description: "Como la llama su servidor." }),
      label: z.string(),
      server: z.string().nullable().openapi({ description: "null: es de Tertulia." }),
      status: z.enum(["running", "waiting", "allowed", "done", "failed", "refused", "interrupted"]),
      input: z.string().openapi({ description: "JSON." }),
      output: z.string(),
      whole: z.boolean().openapi({ description: "false en las listas, si es largo y `output` es solo su principio." }),
      hasApp: z.boolean().openapi({ description: "Si se ve también en una página de su servidor (MCP Apps)." }),
      artifactId: z.string().nullable().openapi({ description: "El escrito que escribe." }),
      edited: z.boolean().openapi({ description: "Si la persona ha cambiado los datos." }),
      asks: z
        .object({
          hash: z.string().openapi({ description: "Va con la decisión: la liga a justo esto." }),
          schema: z.looseObject({}),
          question: z.object({ message: z.string(), schema: z.looseObject({}) }).nullable(),
          onceOnly: z.boolean().openapi({ description: "Si no se puede permitir para toda la conversación." }),
        })
        .nullable()
        .openapi({ description: "Lo que hay que decidir, mientras espera." }),
      ms: z.number().nullable(),
    }),
    z.object({
      n: z.number(),
      kind: z.literal("image"),
      fileId: z.string(),
      alt: z.string(),
      width: z.number().nullable(),
      height: z.number().nullable(),
    }),
  ])
  .openapi("Part");

type ShownPart = z.output<typeof part>;

export const message = z
  .object({
    ...rowFields,
    chatId: z.string(),
    parentId: z.string().nullable(),
    role: z.enum(["user", "assistant", "system"]),
    content: z.string(),
    status: z
      .enum(["complete", "streaming", "waiting", "stopped", "failed", "interrupted"])
      .openapi({ description: "waiting: espera que la persona decida sobre una llamada." }),
    modelId: z.string().nullable(),
    error: z.string().nullable(),
    inputTokens: z.number().nullable(),
    outputTokens: z.number().nullable(),
    reasoningTokens: z
      .number()
      .nullable()
      .openapi({ description: "Los de salida que fueron razonamiento, si el proveedor los cuenta." }),
    parts: z
      .array(part)
      .openapi({ description: "Una respuesta, por partes y en orden; `content` es el texto de todas." }),
    sources: z.array(source),
    attachments: z.array(attachment),
    finishedAt: z.string().nullable(),
    withheld,
  })
  .openapi("Message");

// In characters. A list may hold many replies, and few thoughts are read; a message that is requested alone has whole thoughts.
const thoughtInLists = 3_000;

/**
 * Messages with their attachments, as the API lists them: long thoughts are cut to their beginning. `readable`: the chats whose texts the
 * reader may see; if absent, all chats.
 */
export async function showMessages(
  db: Db,
  rows: MessageRow[],
  reader: ChatReader,
  readable?: ReadonlySet<string>,
): Promise<z.output<typeof message>[]> {
  if (readable && !rows.every(({ chatId }) => readable.has(chatId))) return showSome(db, rows, reader, readable);
  const attached = await attachmentsOf(
    db,
    rows.filter(({ role }) => role === "user").map(({ id }) => id),
  );
  const replyIds = rows.filter(({ role }) => role === "assistant").map(({ id }) => id);
  const parts = await beginningsOfParts(db, replyIds, thoughtInLists);
  const sources = await sourcesFor(db, reader, rows.map(withSources));
  return rows.map((row, index) => ({
    ...showRow(row),
    sources: sources[index] ?? [],
    parts: showParts(row, parts.get(row.id) ?? [], reader),
    attachments: attached.get(row.id) ?? [],
  }));
}

async function showSome(db: Db, rows: MessageRow[], reader: ChatReader, readable: ReadonlySet<string>) {
  const shown = await showMessages(
    db,
    rows.filter(({ chatId }) => readable.has(chatId)),
    reader,
  );
  const none = { content: "", error: null, parts: [], sources: [], attachments: [], withheld: true as const };
  return rows.map((row) => shown.find(({ id }) => id === row.id) ?? { ...showRow(row), ...none });
}

/** One message, with all that was thought for it. */
export async function showOne(db: Db, row: MessageRow, reader: ChatReader): Promise<z.output<typeof message>> {
  const attached = await attachmentsOf(db, [row.id]);
  const parts = showParts(row, await storedParts(db, row.id), reader);
  const [sources = []] = await sourcesFor(db, reader, [withSources(row)]);
  return { ...showRow(row), sources, parts, attachments: attached.get(row.id) ?? [] };
}

async function attachmentsOf(db: Db, messageIds: string[]): Promise<Map<string, z.output<typeof attachment>[]>> {
  const found = new Map<string, z.output<typeof attachment>[]>();
  if (messageIds.length === 0) return found;
  const rows = await db
    .selectFrom("attachments as a")
    .leftJoin("files as f", "f.id", "a.fileId")
    .where("a.messageId", "in", messageIds)
    .orderBy("a.messageId")
    .orderBy("a.position")
    .select(["a.messageId", "a.fileId", "a.name", "a.mediaType", "f.size", "f.width", "f.height", "f.pages"])
    .execute();
  for (const { messageId, ...shown } of rows) found.set(messageId, [...(found.get(messageId) ?? []), shown]);
  return found;
}

const withSources = ({ userId, chatId, sources }: MessageRow) => ({
  userId,
  chatId,
  sources: sources ? storedJson<Source[]>(sources) : [],
});

const showRow = (row: MessageRow) => ({
  id: row.id,
  ...timesOf(row),
  chatId: row.chatId,
  parentId: row.parentId,
  role: row.role,
  content: row.content,
  status: row.status,
  modelId: row.modelId,
  error: row.error,
  inputTokens: row.inputTokens,
  outputTokens: row.outputTokens,
  reasoningTokens: row.reasoningTokens,
  finishedAt: isoOrNull(row.finishedAt),
});

/** The parts of a reply as the API shows them to a reader, or in full without a reader; a person's message has no parts. */
export function showParts(
  { role, content, status, userId }: MessageRow,
  stored: (StoredReplyPart | PartBeginning)[],
  reader?: ChatReader,
): ShownPart[] {
  if (role === "user") return [];
  const parts = partsOf(content, stored);
  const cut = new Set(stored.filter((row) => "whole" in row && !row.whole).map(({ n }) => n));
  const shown = parts.map((one, n): ShownPart => {
    const { kind } = one;
    if (kind === "text") return { n, kind, text: content.slice(one.at, endOfText({ text: content, parts }, n)) };
    const ms = timeOf(one);
    if (kind === "tool") {
      const called = showCall(one);
      const { asks, ...call } = reader === undefined ? called : callFor(reader, { userId }, called);
      const given = asks && {
        ...asks,
        schema: { ...asks.schema },
        question: asks.question && { ...asks.question, schema: { ...asks.question.schema } },
      };
      return { n, kind, ...call, asks: given, whole: !cut.has(n), ms };
    }
    if (kind === "image") return { n, kind, ...one.image, alt: one.text };
    const running = status === "streaming" && one.finishedAt === null;
    return { n, kind, text: one.text, whole: !cut.has(n), running, ms };
  });
  // An edit may have left no text between two thoughts.
  return shown.filter((part) => part.kind === "tool" || part.kind === "image" || part.text !== "");
}
