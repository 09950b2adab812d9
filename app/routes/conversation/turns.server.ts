import type { Client } from "../../api/client.server.ts";
import { renderedMessage } from "../../markdown/rendered.server.ts";
import type { ListedModel } from "./models.server.ts";

type Branch = Awaited<ReturnType<Awaited<ReturnType<Client["api"]["chat"][":id"]["messages"]["$get"]>>["json"]>>;
export type ShownTurn = ReturnType<typeof showTurns>[number];

/** What the page shows of each message: the reply as HTML, the person's text as it is. */
export function showTurns(items: Branch["items"], models: ListedModel[]) {
  return items.map((message) => ({
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
    sources: message.sources.map(({ n, title, chatId, messageId }) => ({ n, title, chatId, messageId })),
    parentId: message.parentId,
    ...versionsOf(message),
  }));
}

function versionsOf({ id, versions }: Branch["items"][number]) {
  const at = versions.indexOf(id);
  return { version: at + 1, versions: versions.length, previous: versions[at - 1], next: versions[at + 1] };
}
