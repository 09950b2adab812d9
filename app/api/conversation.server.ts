import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { Chunk } from "../intelligence/chunk.ts";
import { follow } from "../intelligence/follow.server.ts";
import { continueReply, replyAgain, type Started, sendMessage } from "../intelligence/start.server.ts";
import { limits } from "../limits.ts";
import { pullStream } from "../pull-stream.server.ts";
import { findMessage, inSession } from "./access.server.ts";
import { active, signedIn } from "./authentication.server.ts";
import { conversationText } from "./conversation-text.server.ts";
import type { ApiEnv, Person, Services } from "./env.server.ts";
import { modelToUse } from "./models.server.ts";
import { answerInvalid, invalid, notFound } from "./problem.server.ts";
import { bearer, flag, id, importKeyStart, takes } from "./schemas.server.ts";
import { whileSignedIn } from "./while-signed-in.server.ts";

const newMessage = z.strictObject({
  chatId: id.optional(),
  projectId: id.optional(),
  parentId: id.nullable().optional().openapi({ description: "El mensaje al que sigue; null empieza de nuevo." }),
  content: conversationText,
  modelId: id.optional(),
  fileIds: z
    .array(id, "fileIds tiene que ser una lista.")
    .max(limits.filesPerMessage, `Un mensaje puede llevar ${limits.filesPerMessage} archivos como mucho.`)
    .transform((ids) => [...new Set(ids)])
    .optional()
    .openapi({ description: "Archivos subidos antes." }),
  temporary: flag
    .default(false)
    .openapi({ description: "Empieza un chat que se borra al cerrar esta sesión y no se busca ni se lista." }),
  keepDraft: flag.default(false).openapi({ description: "No borra el borrador: lo enviado no era él." }),
  key: z
    .string("La clave tiene que ser un texto.")
    .max(100, "La clave es demasiado larga.")
    .refine((key) => !key.startsWith(importKeyStart), "La clave no es válida.")
    .transform((key) => key.replaceAll("\0", "") || undefined)
    .optional()
    .openapi({ description: "Enviada dos veces, hace un solo mensaje." }),
});
const again = z.strictObject({
  parentId: id.openapi({
    description: "Un mensaje de la persona: otra respuesta. Una respuesta cortada: continuarla.",
  }),
  modelId: id.optional(),
});
const following = z.strictObject({
  messageId: id,
  after: z
    .number("after tiene que ser un número.")
    .int("after tiene que ser un número entero.")
    .min(0, "after no puede ser negativo.")
    .default(0),
});
const body = z.union([newMessage, again, following]);

const streamed = { description: "La respuesta según se escribe: objetos JSON separados por líneas en blanco." };
const common = { security: bearer, middleware: [signedIn, active] };

const named = { NewMessage: newMessage, ReplyAgain: again, FollowReply: following };
const bodies = Object.keys(named).map((name) => ({ $ref: `#/components/schemas/${name}` }));

export const conversation = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(
    createRoute({
      method: "post",
      path: "/",
      ...common,
      request: { body: takes(z.record(z.string(), z.unknown()).openapi({ oneOf: bodies })) },
      responses: { 200: streamed },
    }),
    async (c) => {
      const { person, services } = c.var;
      const given = parseBody(c.req.valid("json"));
      if ("messageId" in given) {
        const reply = await findMessage(services, person, given.messageId);
        if (reply.role !== "assistant") throw notFound();
        const chunks = followSignedIn(services, person, reply.id, given.after, c.req.raw.signal);
        return c.body(stream(chunks), 200, streamHeaders);
      }
      const started = await start(services, person, given);
      const chunks = followSignedIn(services, person, started.messageId, 0, c.req.raw.signal);
      return c.body(stream(withStart(started, chunks)), 200, streamHeaders);
    },
  )
  .openapi(
    createRoute({
      method: "post",
      path: "/{messageId}/stop",
      ...common,
      request: { params: z.object({ messageId: id.openapi({ param: { name: "messageId", in: "path" } }) }) },
      responses: { 204: { description: "La respuesta está detenida; lo escrito se queda." } },
    }),
    async (c) => {
      const { person, services } = c.var;
      const reply = await findMessage(services, person, c.req.valid("param").messageId);
      await services.runs.stop(reply.id);
      return c.body(null, 204);
    },
  );

for (const [name, schema] of Object.entries(named)) conversation.openAPIRegistry.register(name, schema);

/** A reply for as long as its reader is signed in; the writing goes on without readers. */
async function* followSignedIn(
  services: Services,
  person: Person,
  messageId: string,
  after: number,
  request: AbortSignal,
): AsyncGenerator<Chunk> {
  const { signal, leave } = whileSignedIn(services, person, request);
  try {
    yield* follow(services, messageId, after, signal);
  } finally {
    leave();
  }
}

/** Which of the three bodies it is, told by what it carries, so that the errors are about that one. */
function parseBody(given: Record<string, unknown>): z.output<typeof body> {
  const schema = "messageId" in given ? following : "content" in given || !("parentId" in given) ? newMessage : again;
  const parsed = schema.safeParse(given);
  if (!parsed.success) answerInvalid({ ...parsed, target: "json" } as never, undefined as never);
  return parsed.data as z.output<typeof body>;
}

async function start(
  services: Services,
  person: Person,
  given: z.output<typeof newMessage> | z.output<typeof again>,
): Promise<Started> {
  if (!("content" in given)) {
    const parent = await ownMessage(services, person, given.parentId);
    const model = await modelToUse(services, given.modelId, parent.modelId, await modelOfChat(services, parent.chatId));
    if (parent.role === "user") return replyAgain(services, parent, model);
    if (!parent.parentId) throw invalid("parentId", "Esta respuesta no sigue a ningún mensaje.");
    if (parent.status === "streaming") throw invalid("parentId", "Esta respuesta aún se está escribiendo.");
    return continueReply(services, parent, model);
  }
  const { chatId, projectId, parentId } = given;
  if (chatId) await ownChat(services, person, chatId);
  if (projectId) await ownProject(services, person, projectId);
  if (parentId) {
    const parent = await ownMessage(services, person, parentId);
    if (parent.chatId !== chatId) throw notFound();
  }
  const model = await modelToUse(services, given.modelId, chatId && (await modelOfChat(services, chatId)));
  const { temporary, ...message } = given;
  if (temporary && !person.sessionId) throw invalid("temporary", "Una clave no tiene sesión con la que acabe el chat.");
  const sessionId = temporary ? person.sessionId : undefined;
  return sendMessage(services, { ...message, sessionId, userId: person.id, model });
}

/** Only its owner writes in a conversation: an admin may read it, but not speak for the person. */
async function ownMessage(services: Services, person: Person, messageId: string) {
  const row = await findMessage(services, person, messageId);
  if (row.userId !== person.id) throw notFound();
  return row;
}

async function ownChat({ db }: Services, person: Person, chatId: string): Promise<void> {
  const row = await db
    .selectFrom("chats")
    .where("id", "=", chatId)
    .where("userId", "=", person.id)
    .where(inSession(person))
    .select("id")
    .executeTakeFirst();
  if (!row) throw notFound();
}

async function ownProject({ db }: Services, person: Person, projectId: string): Promise<void> {
  const row = await db
    .selectFrom("projects")
    .where("id", "=", projectId)
    .where("userId", "=", person.id)
    .select("id")
    .executeTakeFirst();
  if (!row) throw notFound();
}

async function modelOfChat({ db }: Services, chatId: string): Promise<string | null> {
  const row = await db.selectFrom("chats").where("id", "=", chatId).select("modelId").executeTakeFirst();
  return row?.modelId ?? null;
}

async function* withStart(started: Started, chunks: AsyncGenerator<Chunk>): AsyncGenerator<Chunk> {
  yield { type: "start", ...started };
  yield* chunks;
}

const streamHeaders = {
  "Content-Type": "application/x-ndjson; charset=utf-8",
  "Cache-Control": "no-store",
  // nginx would hold it back.
  "X-Accel-Buffering": "no",
};

/** The seed's stream: JSON objects separated by blank lines. */
function stream(chunks: AsyncGenerator<Chunk>): ReadableStream<Uint8Array> {
  return pullStream(toLines(chunks), () => chunks.return(undefined));
}

async function* toLines(chunks: AsyncGenerator<Chunk>): AsyncGenerator<string> {
  for await (const chunk of chunks) yield `${JSON.stringify(chunk)}\n\n`;
}
