import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { Db } from "../../db/connection.server.ts";
import { excerptOf, type Hit, searchTyped } from "../../db/search.server.ts";
import { limits } from "../../process/limits.ts";
import type { ApiEnv } from "../env.server.ts";
import { active, signedIn } from "../http/authentication.server.ts";
import { contains } from "../http/list.server.ts";
import { answerInvalid } from "../http/problem.server.ts";
import { answers, bearer, iso } from "../http/schemas.server.ts";

const excerpt = z.array(z.object({ text: z.string(), hit: z.boolean() }));
const found = z
  .object({
    chats: z.array(z.object({ id: z.string(), title: z.string(), lastMessageAt: z.string() })),
    messages: z.array(
      z.object({
        id: z.string(),
        chatId: z.string(),
        title: z.string().openapi({ description: "El título de su chat." }),
        role: z.enum(["user", "assistant", "system"]),
        createdAt: z.string(),
        excerpt,
      }),
    ),
    files: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        createdAt: z.string(),
        page: z.number().nullable(),
        position: z.number().openapi({ description: "El pasaje del archivo en el que está." }),
        excerpt,
      }),
    ),
  })
  .openapi("Found");

const titlesShown = 8;
const messagesShown = 30;
const filesShown = 10;

/** Search over what is the person's own: titles that contain the text, messages and documents that have its words. */
export const search = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(
  createRoute({
    method: "get",
    path: "/",
    security: bearer,
    middleware: [signedIn, active],
    request: {
      query: z.object({
        q: z
          .string("Falta qué buscar.")
          .trim()
          .min(1, "Falta qué buscar.")
          .max(limits.search, "La búsqueda es demasiado larga."),
      }),
    },
    responses: { 200: answers(found, "Los chats, mensajes y archivos que lo contienen, lo más parecido primero.") },
  }),
  async (c) => {
    const { person, services } = c.var;
    const { db, engine } = services;
    const { q } = c.req.valid("query");
    const [titles, hits] = await Promise.all([
      db
        .selectFrom("chats")
        .where("userId", "=", person.id)
        .where("sessionId", "is", null)
        .where(contains("title", q))
        .orderBy("lastMessageAt", "desc")
        .limit(titlesShown)
        .select(["id", "title", "lastMessageAt"])
        .execute(),
      // A message with several matching passages is shown once.
      searchTyped(db, engine, { question: q, owners: [person.id], except: [], limit: messagesShown * 2 }),
    ]);
    const best = bestOf(hits, "messageId");
    const ids = [...best.keys()].slice(0, messagesShown);
    const rows = ids.length
      ? await db
          .selectFrom("messages")
          .innerJoin("chats", "chats.id", "messages.chatId")
          .where("messages.id", "in", ids)
          .where("messages.userId", "=", person.id)
          .select(["messages.id", "messages.chatId", "messages.role", "messages.createdAt", "chats.title"])
          .execute()
      : [];
    const messages = rows
      .sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id))
      .map((row) => ({
        ...row,
        createdAt: iso(row.createdAt),
        excerpt: excerptOf(best.get(row.id)?.text ?? "", q),
      }));
    const chats = titles.map((chat) => ({ ...chat, lastMessageAt: iso(chat.lastMessageAt) }));
    return c.json({ chats, messages, files: await foundFiles(db, person.id, bestOf(hits, "fileId"), q) }, 200);
  },
);

/** The best passage of each message or file. */
function bestOf(hits: Hit[], what: "messageId" | "fileId"): Map<string, Hit> {
  const best = new Map<string, Hit>();
  for (const hit of hits) {
    const id = hit[what];
    if (id && !best.has(id)) best.set(id, hit);
  }
  return best;
}

async function foundFiles(db: Db, userId: string, best: Map<string, Hit>, q: string) {
  const ids = [...best.keys()].slice(0, filesShown);
  const rows = await db
    .selectFrom("files")
    .where("id", "in", [...ids, ""])
    .where("userId", "=", userId)
    .where("ready", "=", 1)
    .where("temporary", "=", 0)
    .select(["id", "name", "createdAt"])
    .execute();
  return rows
    .sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id))
    .map(({ id, name, createdAt }) => {
      const { page = null, position, text = "" } = best.get(id) ?? {};
      return {
        id,
        name,
        createdAt: iso(createdAt),
        page,
        position: Number(position ?? 0),
        excerpt: excerptOf(text, q),
      };
    });
}
