import { renderedText } from "../../../markdown/rendered.server.ts";
import type { Source } from "../../../replies/chunk.ts";
import type { ShownImage } from "../../../ui/made-image.tsx";
import type { Client } from "../../../web/api-client.server.ts";
import { showFile } from "../../../web/file-display.server.ts";
import type { ShownCallPart } from "../calls/call.tsx";
import { showCallPart } from "../calls/show-call.ts";
import type { ModelChoice } from "../models.server.ts";
import type { ShownReasoning } from "../reply/reasoning-fold.tsx";
import { reasoningPath } from "../reply/thought-words.ts";

type MessageBranch = Awaited<ReturnType<Awaited<ReturnType<Client["api"]["chat"][":id"]["messages"]["$get"]>>["json"]>>;
export type ShownTurn = Awaited<ReturnType<typeof showTurn>>;

/** A message as the page shows it: the parts of a reply as HTML, the person's text as it is. */
export async function showTurns(
  chat: OpenChat,
  items: MessageBranch["items"],
  models: ModelChoice[],
  reader: ReaderAbilities,
): Promise<ShownTurn[]> {
  const turns = await Promise.all(
    items.map((message, index) => showTurn(chat, message, items[index - 1], models, reader)),
  );
  const isWritten = (part: ShownPart) => part.kind === "tool" && part.artifact !== undefined;
  const last = turns.findLast(({ parts }) => parts.some(isWritten))?.parts.findLast(isWritten);
  // The last artifact stands beside the conversation.
  if (last?.kind === "tool" && reader.decides) last.isBeside = true;
  return turns;
}

/**
 * `folds`: whether the browser can fold things away; `decides`: whether it is the owner, who alone decides about calls; `listens`:
 * whether there is a model that reads aloud; `light`: whether pictures are linked to.
 */
type ReaderAbilities = { folds: boolean; decides: boolean; listens: boolean; light: boolean };

type ShownChat = { id: string; userId: string };
type OpenChat = ShownChat & { temporary: boolean; ownerName: string };

async function showTurn(
  chat: OpenChat,
  message: BranchMessage,
  question: BranchMessage | undefined,
  models: ModelChoice[],
  { decides, listens, ...reader }: ReaderAbilities,
) {
  const isReply = message.role !== "user" && message.status !== "streaming";
  return {
    id: message.id,
    role: message.role,
    status: message.status,
    error: message.error,
    name: models.find(({ id }) => id === message.modelId)?.name ?? "Asistente",
    text: message.role === "user" ? message.content : "",
    parts: isReply ? (await partsOf(chat, message, reader)).map((part) => (decides ? part : withoutForm(part))) : [],
    written: message.content !== "",
    called: message.parts.some(({ kind }) => kind === "tool"),
    sources: citedIn(message.content, message.sources).map((source) =>
      showSource(chat.id, message.id, source, decides),
    ),
    summary: message.summary,
    unseen: unseenImages(question, message, models),
    others: models.length > 1,
    attachments: message.attachments.map((file) => showFile(file.fileId, file)),
    parentId: message.parentId,
    // The owner's name, if the reader is somebody else, who may only read.
    author: decides ? undefined : chat.ownerName,
    // `useful`: only the owner gives an opinion, and none is asked for in a temporary chat, of which nothing stays.
    listens,
    useful: decides && !chat.temporary ? message.useful : undefined,
    ...versionsOf(message),
  };
}

type PartReader = Pick<ReaderAbilities, "folds" | "light">;
const partsOf = (chat: ShownChat, message: BranchMessage, reader: PartReader) =>
  Promise.all(message.parts.map((part) => showPart(chat, message, part, reader)));

type ShownPart = Awaited<ReturnType<typeof showPart>>;
const withoutForm = (part: ShownPart): ShownPart => (part.kind === "tool" ? { ...part, decision: undefined } : part);

type MessagePart = BranchMessage["parts"][number];
type ShownText = { n: number; kind: "text"; html: string };

/** A part of a reply as HTML. */
export async function showPart(
  chat: ShownChat,
  message: Pick<BranchMessage, "id" | "sources">,
  part: MessagePart,
  { folds, light }: PartReader,
): Promise<ShownText | ShownReasoning | ShownCallPart | (ShownImage & { kind: "image"; n: number })> {
  if (part.kind === "tool") return showCallPart(part, { replyId: message.id, folds });
  if (part.kind === "image") return part;
  const { n, kind, text } = part;
  const sources = message.sources.length;
  const key = `${message.id}:${n}:${sources}`;
  if (kind === "text") {
    const env = {
      docId: message.id,
      drawingsAt: drawingsOf(message.id),
      light,
      ...(sources > 0 && { sourcesId: message.id, sources }),
    };
    return { n, kind, html: await renderedText(key, text, env, chat.userId) };
  }
  const { ms, whole } = part;
  const path = reasoningPath(chat.id, message.id);
  if (!folds) return { n, kind, ms, html: "", whole: path };
  const html = await renderedText(key, whole ? text : `${text}…`, {}, chat.userId);
  return { n, kind, ms, html, whole: whole ? undefined : path };
}

/** Address of the drawings of a message; the key of a drawing follows. */
export const drawingsOf = (messageId: string): string => `/conversation/dibujo/${messageId}/`;

/** The sources that a reply cites by number, like [2]; the page «Qué se envió al modelo» shows all that were given. */
export function citedIn(text: string, sources: Source[]): Source[] {
  const numbers = new Set([...text.matchAll(/\[(\d{1,2})\]/g)].map(([, number]) => Number(number)));
  return sources.filter(({ n }) => numbers.has(n));
}

/**
 * A source as it stands below a reply, with its address: the message, the passage of the file, or its place in the prompt. `isAuthor`:
 * whether the reader is the author, who alone sees the prompt.
 */
export function showSource(
  chatId: string,
  replyId: string,
  source: Source,
  isAuthor: boolean,
): { n: number; title: string; to: string | undefined } {
  const { n, title, messageId, fileId, position, url } = source;
  if (url) return { n, title, to: url };
  if (fileId) {
    const passage = position ?? 0;
    return { n, title, to: `/user/file/${fileId}?pasaje=${passage}#pasaje-${passage}` };
  }
  if (messageId) return { n, title, to: `/conversation/chat/${source.chatId}?mensaje=${messageId}#m-${messageId}` };
  return { n, title, to: isAuthor ? `/conversation/chat/${chatId}/enviado/${replyId}#fuente-${n}` : undefined };
}

export type BranchMessage = MessageBranch["items"][number];

/** The names of the images that came with the question and that the model of the reply can't see. */
function unseenImages(question: BranchMessage | undefined, reply: BranchMessage, models: ModelChoice[]): string[] {
  if (reply.role !== "assistant" || question?.id !== reply.parentId) return [];
  const model = models.find(({ id }) => id === reply.modelId);
  if (!model || model.seesImages) return [];
  return question.attachments.filter(({ mediaType }) => mediaType.startsWith("image/")).map(({ name }) => name);
}

function versionsOf({ id, versions }: MessageBranch["items"][number]) {
  const at = versions.indexOf(id);
  return { version: at + 1, versions: versions.length, previous: versions[at - 1], next: versions[at + 1] };
}
