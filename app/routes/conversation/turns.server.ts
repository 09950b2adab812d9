import type { Client } from "../../api/client.server.ts";
import type { Source } from "../../intelligence/chunk.ts";
import { renderedMessage } from "../../markdown/rendered.server.ts";
import { showFile } from "../../shown-file.server.ts";
import type { ListedModel } from "./models.server.ts";

type Branch = Awaited<ReturnType<Awaited<ReturnType<Client["api"]["chat"][":id"]["messages"]["$get"]>>["json"]>>;
export type ShownTurn = ReturnType<typeof showTurns>[number];

/** What the page shows of each message: the reply as HTML, the person's text as it is. */
export function showTurns(chatId: string, items: Branch["items"], models: ListedModel[]) {
  return items.map((message, index) => ({
    id: message.id,
    role: message.role,
    status: message.status,
    error: message.error,
    name: models.find(({ id }) => id === message.modelId)?.name ?? "Tertulia",
    text: message.role === "user" ? message.content : "",
    html:
      message.role === "user" || message.status === "streaming"
        ? ""
        : renderedMessage(message.id, message.content, message.sources.length),
    sources: message.sources.map((source) => showSource(chatId, message.id, source)),
    summary: message.summary,
    unseen: unseenImages(items[index - 1], message, models),
    others: models.length > 1,
    attachments: message.attachments.map((file) => showFile(file.fileId, file)),
    parentId: message.parentId,
    ...versionsOf(message),
  }));
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

type Item = Branch["items"][number];

/** The names of the images that came with the question and that the model of the reply can't see. */
function unseenImages(question: Item | undefined, reply: Item, models: ListedModel[]): string[] {
  if (reply.role !== "assistant" || question?.id !== reply.parentId) return [];
  const model = models.find(({ id }) => id === reply.modelId);
  if (!model || model.seesImages) return [];
  return question.attachments.filter(({ mediaType }) => mediaType.startsWith("image/")).map(({ name }) => name);
}

function versionsOf({ id, versions }: Branch["items"][number]) {
  const at = versions.indexOf(id);
  return { version: at + 1, versions: versions.length, previous: versions[at - 1], next: versions[at + 1] };
}
