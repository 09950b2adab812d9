import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { Db } from "../../db/engine.server.ts";
import { excerptOf } from "../../db/search/excerpt.server.ts";
import { type Hit, searchPassages, searchTyped } from "../../db/search/find.server.ts";
import { limits } from "../../process/limits.ts";
import { withoutMarks } from "../../process/text/without-marks.ts";
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
    passages: z
      .array(
        z.object({
          text: z.string(),
          title: z.string().openapi({ description: "Del chat o del archivo en el que está." }),
          chatId: z.string().nullable(),
          messageId: z.string().nullable(),
          fileId: z.string().nullable(),
          page: z.number().nullable(),
          position: z.number().nullable(),
        }),
      )
      .openapi({ description: "Con `mode=passages`: los pasajes que mejor contestan, el mejor primero." }),
  })
  .openapi("Found");

const titlesShown = 8;
const messagesShown = 30;
const filesShown = 10;
const passagesShown = 12;

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
        mode: z.enum(["all", "passages"], "mode tiene que ser all o passages.").default("all").openapi({
          description: "passages: en vez de chats, mensajes y archivos, los pasajes que contestan a una pregunta.",
        }),
      }),
    },
    responses: { 200: answers(found, "Los chats, mensajes y archivos que lo contienen, lo más parecido primero.") },
  }),
  async (c) => {
    const { person, services } = c.var;
    const { db, engine, searchModel } = services;
    const { q, mode } = c.req.valid("query");
    if (mode === "passages") {
      const found = await searchPassages(db, engine, {
        question: q,
        meaning: await searchModel.meaningOf(q),
        owners: [person.id],
        except: [],
        limit: passagesShown,
      });
      return c.json({ chats: [], messages: [], files: [], passages: await withTitles(db, found) }, 200);
    }
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
      searchTyped(db, engine, { question: q, owners: [person.id], except: [], limit: messagesShown * 2 }, (question) =>
        searchModel.meaningOf(question),
      ),
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
        excerpt: excerptOf(withoutMarks(best.get(row.id)?.text ?? ""), q),
      }));
    const chats = titles.map((chat) => ({ ...chat, lastMessageAt: iso(chat.lastMessageAt) }));
    const files = await foundFiles(db, person.id, bestOf(hits, "fileId"), q);
    return c.json({ chats, messages, files, passages: [] }, 200);
  },
);

/** Passages with the title of their chat or file; passages of temporary chats and of files that are not kept yet are left out. */
async function withTitles(db: Db, hits: Hit[]) {
  const [chats, files] = await Promise.all([
    db
      .selectFrom("chats")
      .where("id", "in", ["", ...hits.flatMap(({ chatId }) => chatId ?? [])])
      .where("sessionId", "is", null)
      .select(["id", "title"])
      .execute(),
    db
      .selectFrom("files")
      .where("id", "in", ["", ...hits.flatMap(({ fileId }) => fileId ?? [])])
      .where("ready", "=", 1)
      .where("temporary", "=", 0)
      .where("sessionId", "is", null)
      .select(["id", "name as title"])
      .execute(),
  ]);
  const titles = new Map([...chats, ...files].map(({ id, title }) => [id, title]));
  return hits.flatMap(({ text, chatId, messageId, fileId, page, position }) => {
    const title = titles.get(fileId ?? chatId ?? "");
    if (title === undefined) return [];
    // PostgreSQL gives large integers as text.
    const [onPage, at] = [page, position].map((value) => (value === null ? null : Number(value)));
    return [{ text, title, chatId, messageId, fileId, page: onPage ?? null, position: at ?? null }];
  });
}

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
