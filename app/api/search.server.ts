import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { excerptOf, type Hit, searchTyped } from "../db/search.server.ts";
import { limits } from "../limits.ts";
import { active, signedIn } from "./authentication.server.ts";
import type { ApiEnv } from "./env.server.ts";
import { contains } from "./list.server.ts";
import { answerInvalid } from "./problem.server.ts";
import { answers, bearer, iso } from "./schemas.server.ts";

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
        excerpt: z.array(z.object({ text: z.string(), hit: z.boolean() })),
      }),
    ),
  })
  .openapi("Found");

const titlesShown = 8;
const messagesShown = 30;

/** Search over the person's own chats: titles that contain the text, messages that have its words. */
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
    responses: { 200: answers(found, "Los chats y mensajes que lo contienen, lo más parecido primero.") },
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
      // A message may have several passages: it is shown once.
      searchTyped(db, engine, { question: q, owners: [person.id], except: [], limit: messagesShown * 2 }),
    ]);
    const best = new Map<string, Hit>();
    for (const hit of hits) if (hit.messageId && !best.has(hit.messageId)) best.set(hit.messageId, hit);
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
    return c.json({ chats, messages }, 200);
  },
);
