import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { MessageRow } from "../../db/tables.ts";
import { pullStream, withPauses } from "../../http/pull-stream.server.ts";
import { limits } from "../../process/limits.ts";
import { knownZone } from "../../process/time-zones.server.ts";
import { ConcurrencyLimit } from "../../process/work/concurrency-limit.server.ts";
import { Busy } from "../../replies/cannot-reply.server.ts";
import type { Chunk } from "../../replies/chunk.ts";
import { follow, type Known, reached } from "../../replies/follow.server.ts";
import { queueMessage } from "../../replies/queue.server.ts";
import { clearDraft, continueReply, replyAgain, type Started, sendMessage } from "../../replies/start.server.ts";
import { LimitReached } from "../../replies/usage.server.ts";
import { findAssistant } from "../assistants/assistants.server.ts";
import type { ApiEnv, Person, Services } from "../env.server.ts";
import { active, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, invalid, notFound, Problem, refusalOf } from "../http/problem.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { bearer, flag, id, importKeyStart, takes } from "../http/schemas.server.ts";
import { findMessage, inSession, seeMessage, writesInProject } from "../http/visibility.server.ts";
import { whileShown, whileSignedIn } from "../http/while-signed-in.server.ts";
import { modelOfChat, modelToUse, withSettings } from "../models/models.server.ts";
import { zoneOfCall } from "../site/time-zone.server.ts";
import { textBesideFiles, unwritten } from "./conversation-text.server.ts";
import { chunksFor } from "./shared/author-only.server.ts";

/** Key of a message. */
export const messageKey = z
  .string("La clave tiene que ser un texto.")
  .max(100, "La clave es demasiado larga.")
  .refine((key) => !key.startsWith(importKeyStart), "La clave no es válida.")
  .transform((key) => key.replaceAll("\0", "") || undefined)
  .optional()
  .openapi({ description: "Enviada dos veces, hace un solo mensaje." });
const message = z.strictObject({
  chatId: id.optional(),
  projectId: id.optional(),
  parentId: id.nullable().optional().openapi({ description: "El mensaje al que sigue; null empieza de nuevo." }),
  content: textBesideFiles,
  modelId: id.optional(),
  assistantId: id
    .nullable()
    .optional()
    .openapi({ description: "Con quién se habla: un asistente; null: con el modelo. Sin él, con quien se hablaba." }),
  fileIds: z
    .array(id, "fileIds tiene que ser una lista.")
    .max(limits.filesPerMessage, `Un mensaje puede llevar ${limits.filesPerMessage} archivos como mucho.`)
    .transform((ids) => [...new Set(ids)])
    .optional()
    .openapi({ description: "Archivos subidos antes." }),
  temporary: flag
    .default(false)
    .openapi({ description: "Empieza un chat que se borra al cerrar esta sesión y no se busca ni se lista." }),
  queue: flag.default(false).openapi({
    description: "Si en el chat se está escribiendo otra respuesta, el mensaje espera a que acabe; `queued` lo dice.",
  }),
  keepDraft: flag.default(false).openapi({ description: "No borra el borrador: lo enviado no era él." }),
  key: messageKey,
});
const saysSomething = ({ content, fileIds = [] }: z.output<typeof message>) => content !== "" || fileIds.length > 0;
const newMessage = message.refine(saysSomething, { path: ["content"], message: unwritten });
const again = z.strictObject({
  parentId: id.openapi({
    description: "Un mensaje de la persona: otra respuesta. Una respuesta cortada: continuarla.",
  }),
  modelId: id.optional(),
});
const position = (name: string) =>
  z
    .number(`${name} tiene que ser un número.`)
    .int(`${name} tiene que ser un número entero.`)
    .min(0, `${name} no puede ser negativo.`);
const following = z.strictObject({
  messageId: id,
  after: position("after").default(0).openapi({ description: "Lo que ya se tiene del texto, en unidades UTF-16." }),
  from: z
    .strictObject({ n: position("n"), at: position("at") }, "from tiene que ser un objeto.")
    .optional()
    .openapi({
      description: "El lugar exacto hasta el que se tiene: una parte, y cuánto de ella. Va antes que `after`.",
    }),
});
const body = z.union([newMessage, again, following]);

const streamed = { description: "La respuesta según se escribe: objetos JSON separados por líneas en blanco." };
const common = { security: bearer, middleware: [signedIn, active] };

const named = { NewMessage: newMessage, ReplyAgain: again, FollowReply: following };
const bodies = Object.keys(named).map((name) => ({ $ref: `#/components/schemas/${name}` }));

// Accepts any object: `parseBody` decides which body it is, so that validation errors are about that one.
const anyBody = z
  .custom<z.input<typeof body>>((given) => typeof given === "object" && given !== null && !Array.isArray(given))
  .openapi({ type: "object", oneOf: bodies });

export const conversation = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(
    createRoute({
      method: "post",
      path: "/",
      ...common,
      request: { body: takes(anyBody) },
      responses: { 200: streamed },
    }),
    async (c) => {
      const { person, services } = c.var;
      const given = parseBody(c.req.valid("json"));
      if ("messageId" in given) {
        const reply = await seeMessage(c, given.messageId);
        if (reply.role !== "assistant") throw notFound();
        const { from, after } = given;
        if (from && !(await reached(services, reply.id, from))) {
          throw invalid("from", "La respuesta nunca ha llegado a ese lugar: síguela desde el principio.");
        }
        return answerReply(c, reply, { known: from ? { from } : { after } });
      }
      await countAttempt(c, "message", person.id);
      const started = await startOrQueue(services, person, given, await zoneOfCall(c));
      if (!started) {
        c.var.services.changes.tell({ userId: person.id, what: "chat" });
        return c.body(`${JSON.stringify({ type: "queued" } satisfies Chunk)}\n\n`, 200, streamHeaders);
      }
      return answerReply(
        c,
        { ...started, id: started.messageId, userId: person.id },
        { known: { after: 0 }, first: [{ type: "start", ...started }] },
      );
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

// Open tabs and programs of one person that follow the same reply.
const followers = new ConcurrencyLimit(20);

/** Answers a reply while its reader may read it. The reply itself goes on without readers. Throws 429. */
function answerReply(
  c: Context<ApiEnv>,
  reply: Pick<MessageRow, "id" | "chatId" | "userId">,
  how: { known: Known; first?: Chunk[] },
) {
  const { services, person } = c.var;
  const follower = `${person.id} ${reply.id}`;
  if (!followers.enter(follower)) throw new Problem(429, "Ya sigues esta respuesta en demasiados sitios a la vez.");
  // A follower that gets the answer but never reads it is not counted.
  followers.leave(follower);
  const arrive = () => {
    const own = reply.userId === person.id;
    const { signal, leave } = own ? whileSignedIn(services, person, c.req.raw.signal) : whileShown(c, reply.chatId);
    const counted = followers.enter(follower);
    return {
      signal,
      leave() {
        if (counted) followers.leave(follower);
        leave();
      },
    };
  };
  const chunks = chunksFor(services.db, person, reply, follow(services, reply.id, { ...how, arrive }));
  if (!c.env.handOver) return c.body(stream(chunks), 200, streamHeaders);
  c.env.handOver(chunks);
  return c.body(null, 200, streamHeaders);
}

/** Chooses the schema by the fields that are present, so that validation errors are about the right one. */
function parseBody(given: object): z.output<typeof body> {
  const schema = "messageId" in given ? following : "content" in given || !("parentId" in given) ? newMessage : again;
  const parsed = schema.safeParse(given);
  if (!parsed.success) throw refusalOf(parsed.error);
  return parsed.data;
}

type NewMessage = z.output<typeof newMessage>;
type Again = z.output<typeof again>;

/** Starts a reply as `start` does; returns undefined if the message waits until the reply in progress in its chat has ended. */
async function startOrQueue(
  services: Services,
  person: Person,
  given: NewMessage | Again,
  zone: string | undefined,
): Promise<Started | undefined> {
  try {
    return await start(services, person, given, zone);
  } catch (error) {
    if (!(error instanceof Busy) || !("queue" in given) || !given.queue || !given.chatId) throw error;
    const { chatId, content, modelId, assistantId, parentId, fileIds = [], key } = given;
    const message = { content, modelId, assistantId, parentId, fileIds, keys: key ? [key] : [], zone };
    const isQueued = await services.db.transaction().execute(async (trx) => {
      const has = await queueMessage(trx, services.engine, chatId, message);
      if (has && !given.keepDraft) await clearDraft(trx, { chatId, userId: person.id });
      return has;
    });
    if (isQueued) return;
    // The reply in progress has ended since.
    return start(services, person, given, zone);
  }
}

/**
 * Stores a question and starts its reply. `queued`: stored form of the chat's queued message, if this message is the queued one. Throws
 * errors that the API answers: Problem, LimitReached, CannotReply.
 */
export async function start(
  services: Services,
  person: Person,
  given: Omit<NewMessage, "queue"> | Again,
  said: string | undefined,
  queued?: string,
): Promise<Started> {
  const zone = knownZone(said);
  if (!("content" in given)) {
    const parent = await ownMessage(services, person, given.parentId);
    const chat = await modelOfChat(services, parent.chatId);
    const used = await modelToUse(services, person.id, given.modelId, parent.modelId, chat.modelId);
    const model = withSettings(used, chat.assistant);
    if (parent.role === "user") return replyAgain(services, parent, model, zone);
    if (!parent.parentId) throw invalid("parentId", "Esta respuesta no sigue a ningún mensaje.");
    if (parent.status === "streaming") throw invalid("parentId", "Esta respuesta aún se está escribiendo.");
    if (parent.status === "waiting") throw invalid("parentId", "Esta respuesta espera que decidas antes.");
    return continueReply(services, parent, model, zone);
  }
  const { chatId, projectId, parentId } = given;
  if (chatId) await ownChat(services, person, chatId);
  if (projectId) await ownProject(services, person, projectId);
  if (parentId) {
    const parent = await ownMessage(services, person, parentId);
    if (parent.chatId !== chatId) throw notFound();
  }
  const chat = chatId ? await modelOfChat(services, chatId) : undefined;
  const asked = given.assistantId ? await usableAssistant(services, person, given.assistantId) : undefined;
  const assistant = given.assistantId === undefined ? chat?.assistant : asked;
  const used = await modelToUse(
    services,
    person.id,
    asked?.modelId ? undefined : given.modelId,
    assistant?.modelId,
    chat?.modelId,
  );
  const model = withSettings(used, assistant);
  const { temporary, ...message } = given;
  if (temporary && !person.sessionId) throw invalid("temporary", "Una clave no tiene sesión con la que acabe el chat.");
  const sessionId = temporary ? person.sessionId : undefined;
  try {
    return await sendMessage(services, {
      ...message,
      sessionId,
      userId: person.id,
      model,
      zone,
      queued,
    });
  } catch (error) {
    if (error instanceof LimitReached && !given.keepDraft) await keepAsDraft(services, person, given, error);
    throw error;
  }
}

async function usableAssistant({ db }: Services, person: Person, assistantId: string) {
  try {
    return await findAssistant(db, person, assistantId);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw invalid("assistantId", "Ese asistente ya no está disponible. Elige otro.");
  }
}

/** Keeps a message that the plan refused as the draft of its composer. */
async function keepAsDraft(
  { db }: Services,
  person: Person,
  { chatId, projectId, content, modelId, fileIds }: Omit<NewMessage, "queue">,
  limit: LimitReached,
): Promise<void> {
  const draft = JSON.stringify({ content, modelId: modelId ?? null, fileIds: fileIds ?? [] });
  if (chatId) await db.updateTable("chats").set({ draft }).where("id", "=", chatId).execute();
  else if (projectId) {
    // A project has one draft, of its owner.
    const own = db.updateTable("projects").set({ draft }).where("id", "=", projectId).where("userId", "=", person.id);
    await own.execute();
  } else await db.updateTable("users").set({ draft }).where("id", "=", person.id).execute();
  limit.kept = true;
}

/** Only its owner writes in a conversation: an admin may read it, but not speak for the person. */
export async function ownMessage(services: Services, person: Person, messageId: string) {
  const row = await findMessage(services, person, messageId);
  if (row.userId !== person.id) throw notFound();
  return row;
}

export async function ownChat({ db }: Services, person: Person, chatId: string): Promise<void> {
  await db
    .selectFrom("chats")
    .where("id", "=", chatId)
    .where("userId", "=", person.id)
    .where(inSession(person))
    .select("id")
    .executeTakeFirstOrThrow(notFound);
}

async function ownProject(services: Services, person: Person, projectId: string): Promise<void> {
  if (!(await writesInProject(services, person, projectId))) throw notFound();
}

/** Headers of the stream of a reply. */
export const streamHeaders = {
  "Content-Type": "application/x-ndjson; charset=utf-8",
  "Cache-Control": "no-store",
  // Otherwise nginx would buffer the stream.
  "X-Accel-Buffering": "no",
};

/** The stream of a reply: JSON objects separated by blank lines, and one more line in each long pause. */
export const stream = (chunks: AsyncGenerator<Chunk[]>): ReadableStream<Uint8Array> =>
  pullStream(
    withPauses(chunks),
    () => chunks.return(undefined),
    (some) => some?.map((chunk) => `${JSON.stringify(chunk)}\n\n`).join("") ?? "\n",
  );
