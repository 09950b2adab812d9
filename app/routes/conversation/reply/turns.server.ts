import { renderedMessage } from "../../../markdown/rendered.server.ts";
import type { Source } from "../../../replies/chunk.ts";
import type { Client } from "../../../web/api-client.server.ts";
import { showFile } from "../../../web/file-display.server.ts";
import type { ModelChoice } from "../models.server.ts";

type MessageBranch = Awaited<ReturnType<Awaited<ReturnType<Client["api"]["chat"][":id"]["messages"]["$get"]>>["json"]>>;
export type ShownTurn = Awaited<ReturnType<typeof showTurn>>;

/** What the page shows of each message: the reply as HTML, the person's text as it is. */
export const showTurns = (
  chat: ShownChat,
  items: MessageBranch["items"],
  models: ModelChoice[],
): Promise<ShownTurn[]> =>
  Promise.all(items.map((message, index) => showTurn(chat, message, items[index - 1], models)));

type ShownChat = { id: string; userId: string };

async function showTurn(
  chat: ShownChat,
  message: BranchMessage,
  question: BranchMessage | undefined,
  models: ModelChoice[],
) {
  return {
    id: message.id,
    role: message.role,
    status: message.status,
    error: message.error,
    name: models.find(({ id }) => id === message.modelId)?.name ?? "Tertulia",
    text: message.role === "user" ? message.content : "",
    html:
      message.role === "user" || message.status === "streaming"
        ? ""
        : await renderedMessage(message.id, message.content, message.sources.length, chat.userId),
    sources: citedIn(message.content, message.sources).map((source) => showSource(chat.id, message.id, source)),
    summary: message.summary,
    unseen: unseenImages(question, message, models),
    others: models.length > 1,
    attachments: message.attachments.map((file) => showFile(file.fileId, file)),
    parentId: message.parentId,
    ...versionsOf(message),
  };
}

/** The sources that a reply cites by number, like [2]; the page «Qué se envió al modelo» shows all that were given. */
export function citedIn(text: string, sources: Source[]): Source[] {
  const numbers = new Set([...text.matchAll(/\[(\d{1,2})\]/g)].map(([, number]) => Number(number)));
  return sources.filter(({ n }) => numbers.has(n));
}

/** A source of a reply, and where it opens: at the message, at the passage of the file, or among what the model was given. */
export function showSource(chatId: string, replyId: string, source: Source) {
  const { n, title, messageId, fileId, position } = source;
  if (fileId) {
    const passage = position ?? 0;
    return { n, title, to: `/user/file/${fileId}?pasaje=${passage}#pasaje-${passage}` };
  }
  const to = messageId
    ? `/conversation/chat/${source.chatId}?mensaje=${messageId}#m-${messageId}`
    : `/conversation/chat/${chatId}/enviado/${replyId}#fuente-${n}`;
  return { n, title, to };
}

type BranchMessage = MessageBranch["items"][number];

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
