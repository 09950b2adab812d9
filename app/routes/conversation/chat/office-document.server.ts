import { z } from "zod";
import type { OfficeDocument } from "../../../markdown/documents/office-document.server.ts";

const source = z.object({ n: z.number(), title: z.string(), quote: z.string() });
/** The parts of a chat's export by the API that a document shows. */
const exported = z.object({
  title: z.string(),
  aiNotice: z.string(),
  leafId: z.string().nullable(),
  messages: z.array(
    z.object({
      id: z.string(),
      parentId: z.string().nullable(),
      role: z.string(),
      createdAt: z.string(),
      model: z.string().nullable(),
      content: z.string(),
      sources: z.array(source).default([]),
      attachments: z.array(z.object({ name: z.string() })),
    }),
  ),
});
type Message = z.output<typeof exported>["messages"][number];

/**
 * The branch of a chat that is shown, or one of its replies alone, for an office document; undefined where there is no such reply.
 * `chat`: the chat's export as JSON. `timeZone`: the zone of the times in the document.
 */
export function officeDocumentOf(
  chat: unknown,
  format: OfficeDocument["format"],
  messageId: string | null,
  { author, timeZone }: { author: string; timeZone: string },
): OfficeDocument | undefined {
  const { title, aiNotice, leafId, messages } = exported.parse(chat);
  const shown = messageId ? messages.filter(({ id }) => id === messageId) : branchTo(messages, leafId);
  if (messageId && shown.length === 0) return undefined;
  const moments = new Intl.DateTimeFormat("es", { dateStyle: "long", timeStyle: "short", timeZone });
  return {
    format,
    title,
    author,
    notice: aiNotice,
    turns: shown.map(({ role, model, createdAt, content, sources, attachments }) => ({
      who: role === "user" ? "Tú" : (model ?? "Asistente"),
      when: moments.format(new Date(createdAt)),
      markdown: content,
      files: attachments.map(({ name }) => name),
      sources,
    })),
  };
}

function branchTo(messages: Message[], leafId: string | null): Message[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const branch: Message[] = [];
  let next = byId.get(leafId ?? "") ?? messages.at(-1);
  while (next && branch.length <= messages.length) {
    branch.unshift(next);
    next = byId.get(next.parentId ?? "");
  }
  return branch;
}
