import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { sql } from "kysely";
import type { Db } from "../../db/engine.server.ts";
import { isMinor, usableBy } from "../../db/people/groups.server.ts";
import { inProjectOf } from "../../db/people/shared-work.server.ts";
import { prepared } from "../../db/prepared.server.ts";
import { limits } from "../../process/limits.ts";
import { enabledKinds } from "../../voice/voice.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { signedIn } from "../http/authentication.server.ts";
import { answers, bearer, iso } from "../http/schemas.server.ts";
import { model } from "../models/model-fields.server.ts";
import { modelsFor } from "../models/models.server.ts";
import { unreadNotices } from "../site/notices.server.ts";

const dashboardLists = z
  .object({
    aside: z.object({
      chats: z.array(z.object({ id: z.string(), title: z.string(), pinned: z.boolean(), lastMessageAt: z.string() })),
      projects: z.array(
        z.object({
          id: z.string(),
          name: z.string(),
          own: z.boolean().openapi({ description: "Si es de quien pregunta, y no de quien le ha hecho miembro." }),
        }),
      ),
    }),
    notices: z
      .array(z.object({ id: z.string(), text: z.string() }))
      .openapi({ description: "Lo que dice la casa y la persona aún no ha leído." }),
    aiNotice: z.string().openapi({ description: "Lo que avisa de que contesta una inteligencia artificial." }),
    voice: z.object({
      hears: z.boolean().openapi({ description: "Si se puede dictar." }),
      speaks: z.boolean().openapi({ description: "Si se pueden escuchar las respuestas." }),
    }),
    assistants: z
      .array(z.object({ id: z.string(), name: z.string() }))
      .openapi({ description: "Con quién se puede hablar, además de los modelos." }),
    models: z
      .array(model.pick({ id: true, name: true, provider: true, acceptsImages: true, isDefault: true }))
      .openapi({ description: "Los modelos entre los que se puede elegir." }),
  })
  .openapi("Dashboard");

const findMinor = prepared((db, { userId }: { userId: string }) =>
  db.selectFrom("users").where("id", "=", userId).where(isMinor(userId)).select("id"),
);

// More than anyone scrolls through; older chats are found by search.
const chatsShown = 60;

export const dashboard = new OpenAPIHono<ApiEnv>().openapi(
  createRoute({
    method: "get",
    path: "/initialize",
    security: bearer,
    middleware: [signedIn],
    responses: {
      200: answers(dashboardLists, "Lo que muestra la barra lateral: primero los fijados, luego lo más nuevo."),
    },
  }),
  async (c) => {
    const { person, services } = c.var;
    const { db } = services;
    const userId = person.id;
    const [pinned, recent, projects, { rows: assistants }, models, notices, kinds, minor] = await Promise.all([
      findPinned(db, { userId }),
      findRecent(db, { userId }),
      findProjects(db, { userId }),
      findAssistants(db, { userId }),
      modelsFor(db, userId),
      unreadNotices(db, userId),
      enabledKinds(db),
      findMinor(db, { userId }),
    ]);
    const chats = [...pinned.rows, ...recent.rows].map(({ id, title, pinned: isPinned, lastMessageAt }) => ({
      id,
      title,
      pinned: isPinned === 1,
      lastMessageAt: iso(lastMessageAt),
    }));
    const named = projects.rows.map(({ id, name, userId: ownerId }) => ({ id, name, own: ownerId === userId }));
    const voice = { hears: kinds.has("transcription"), speaks: kinds.has("speech") };
    const choices = models.map(({ acceptsImages, isDefault, ...named }) => ({
      ...named,
      acceptsImages: acceptsImages === 1,
      isDefault: isDefault === 1,
    }));
    // A person who may not use any model is not told which models exist.
    const mayTalk = person.status === "active" && !person.owesTerms && !person.owesSecondStep;
    const { aiNotice: said, controller } = services.config;
    const answers = controller.name ?? "quien te ha dado la cuenta";
    const aiNotice = minor.rows.length > 0 ? `${said} Responde de ella ${answers}.` : said;
    // A person who owes a second step sees no chats and projects of theirs before it.
    const aside = person.owesSecondStep ? { chats: [], projects: [] } : { chats, projects: named };
    return c.json(
      { aside, notices, aiNotice, voice, assistants: mayTalk ? assistants : [], models: mayTalk ? choices : [] },
      200,
    );
  },
);

type Owner = { userId: string };

const ownChats = (db: Db, { userId }: Owner) =>
  db
    .selectFrom("chats")
    .where("userId", "=", userId)
    .where("archived", "=", 0)
    .where("sessionId", "is", null)
    .orderBy("lastMessageAt", "desc")
    .select(["id", "title", "pinned", "lastMessageAt"]);

const findPinned = prepared((db, owner: Owner) => ownChats(db, owner).where("pinned", "=", 1));
const findRecent = prepared((db, owner: Owner) => ownChats(db, owner).where("pinned", "=", 0).limit(chatsShown));

const findProjects = prepared((db, { userId }: Owner) =>
  db
    .selectFrom("projects")
    .where(inProjectOf("projects.id", userId))
    .orderBy(sql`plain(name)`)
    .select(["id", "name", "userId"]),
);

const findAssistants = prepared((db, { userId }: Owner) =>
  db
    .selectFrom("assistants")
    .where((e) => e.or([e("userId", "=", userId), e.and([e("shared", "=", 1), usableBy("assistants", userId)])]))
    .orderBy(sql`plain(name)`)
    .limit(limits.listMax)
    .select(["id", "name"]),
);
