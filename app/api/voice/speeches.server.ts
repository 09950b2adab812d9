import { createHash } from "node:crypto";
import { createRoute, OpenAPIHono, type RouteHandler } from "@hono/zod-openapi";
import type { Context } from "hono";
import { planWithoutRoom } from "../../db/people/storage-use.server.ts";
import { newRow } from "../../db/rows.server.ts";
import type { MessageRow, VoiceModelRow } from "../../db/tables.ts";
import type { Content } from "../../files/storage/storage.server.ts";
import { ConcurrencyLimit } from "../../process/work/concurrency-limit.server.ts";
import { soundTypeOf } from "../../voice/sound.server.ts";
import { type Sound, speak, spoken, voiceModel } from "../../voice/voice.server.ts";
import type { ApiEnv, Services } from "../env.server.ts";
import { active, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, invalid, Problem } from "../http/problem.server.ts";
import { answerBytes } from "../http/ranges.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { bearer, bytes, idParam } from "../http/schemas.server.ts";
import { seeMessage } from "../http/visibility.server.ts";
import { asProblem, noModel } from "./voice.server.ts";

// In characters: some ten minutes. The rest of a longer reply is not read.
const spokenAtMost = 10_000;
// Markup and code are not read aloud: this much of the text is searched for words to read.
const lookedAt = 4 * spokenAtMost;
// Limit per person in this process.
const making = new ConcurrencyLimit(2);

const readSpeechRoute = createRoute({
  method: "get",
  path: "/{id}/speech",
  security: bearer,
  middleware: [signedIn, active],
  request: { params: idParam },
  responses: {
    200: {
      content: { "audio/mpeg": { schema: bytes } },
      description: "La respuesta, leída en voz alta: en MP3, o en lo que dé el servidor de voz.",
    },
    206: { description: "Una parte, con `Range`." },
    416: { description: "Acaba antes de esa parte." },
  },
});
const readSpeech: RouteHandler<typeof readSpeechRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const message = await seeMessage(c, c.req.valid("param").id);
  const model = await voiceModel(services.db, "speech");
  if (!model) throw noModel("que lea en voz alta");
  const text = spoken(message.content.slice(0, lookedAt)).slice(0, spokenAtMost).toWellFormed();
  if (message.role !== "assistant" || message.status === "streaming" || !text) {
    throw invalid("id", "Aquí no hay nada que leer en voz alta: espera a que la respuesta acabe.");
  }
  const version = versionOf(model, text);
  const kept = await findKept(services, message.id, version);
  if (kept) return await answerKept(c, kept);
  await countAttempt(c, "speech", person.id);
  if (!making.enter(person.id)) throw tooMany();
  try {
    const { sound, isKept } = await made(services, message, { model, text, version }).catch(asProblem);
    const stored = isKept ? await findKept(services, message.id, version) : undefined;
    if (stored) return await answerKept(c, stored);
    // Speech that is not kept is sent whole: a request for a part would make it, and pay for it, again.
    return new Response(new Uint8Array(sound.bytes), {
      headers: { "Content-Type": sound.mediaType, "Cache-Control": "no-store" },
    });
  } finally {
    making.leave(person.id);
  }
};

type Kept = { id: string; content: Content };

// In bytes: enough to know a type by.
const headLength = 4_096;

const beginningOf = (content: Content) =>
  new Response(content.read({ start: 0, end: Math.min(headLength, content.size) - 1 })).bytes();

async function answerKept(c: Context<ApiEnv>, { id, content }: Kept): Promise<Response> {
  const tag = `"${id}"`;
  // A player that has the sound already has its type, and nothing is read of the store.
  const isKnown = c.req.header("If-None-Match") === tag;
  const head = isKnown ? new Uint8Array() : await beginningOf(content);
  const headers = {
    ...(!isKnown && { "Content-Type": (await soundTypeOf(head)) ?? "audio/mpeg" }),
    // The browser has to ask again each time: the reply may be gone by then, or another person may use this browser.
    "Cache-Control": "private, no-cache",
    ETag: tag,
  };
  return answerBytes(c, headers, () => content);
}

const tooMany = () => new Problem(429, "Ya se te están leyendo otras respuestas. Espera a que empiecen a sonar.");

/** Replies as speech: made when somebody wants to listen to one for the first time, and kept. */
export const speeches = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(readSpeechRoute, readSpeech);

type Made = { sound: Sound; isKept: boolean };
type Wanted = { model: VoiceModelRow; text: string; version: string };

/** Everything that the sound of a text depends on: if any of it changes, the sound is made anew. */
const versionOf = ({ externalId, voice, baseUrl }: VoiceModelRow, text: string) =>
  createHash("sha256")
    .update(JSON.stringify([baseUrl, externalId, voice, text]))
    .digest("base64url");

async function findKept({ db, storage }: Services, messageId: string, version: string): Promise<Kept | undefined> {
  const row = await db
    .selectFrom("speeches")
    .where("messageId", "=", messageId)
    .where("version", "=", version)
    .orderBy("id", "desc")
    .select("id")
    .executeTakeFirst();
  const content = row && (await storage.stream(row.id, "original"));
  return content && { id: row.id, content };
}

// Browsers ask several times for what they play: all requests wait for the same sound. It is made and kept even if they end.
const underway = new Map<string, Promise<Made>>();

function made(services: Services, message: MessageRow, wanted: Wanted): Promise<Made> {
  const key = `${message.id} ${wanted.version}`;
  let asked = underway.get(key);
  if (!asked) {
    asked = make(services, message, wanted).finally(() => underway.delete(key));
    underway.set(key, asked);
  }
  return asked;
}

async function make(services: Services, message: MessageRow, { model, text, version }: Wanted): Promise<Made> {
  const { db, storage } = services;
  const sound = await speak(services, model, text, new AbortController().signal);
  const chat = await db.selectFrom("chats").where("id", "=", message.chatId).select("sessionId").executeTakeFirst();
  // Speech is not kept for a temporary or deleted chat, or if the plan of the chat's owner has no room for it.
  const isFull = (await planWithoutRoom(db, message.userId, sound.bytes.length)) !== undefined;
  if (!chat || chat.sessionId !== null || isFull) return { sound, isKept: false };
  const before = await db.selectFrom("speeches").where("messageId", "=", message.id).select("id").execute();
  const now = Date.now();
  const { id: messageId, userId } = message;
  const row = { ...newRow(now), messageId, userId, version, size: sound.bytes.length };
  await storage.put(row.id, "original", sound.bytes);
  await db.insertInto("speeches").values(row).execute();
  const old = before.map(({ id }) => id);
  if (old.length > 0) await db.deleteFrom("speeches").where("id", "in", old).execute();
  await storage.delete(old);
  return { sound, isKept: true };
}
