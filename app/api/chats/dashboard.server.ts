import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { usableBy } from "../../db/groups.server.ts";
import { prepared } from "../../db/prepared.server.ts";
import { inProjectOf } from "../../db/shared-work.server.ts";
import { limits } from "../../process/limits.ts";
import type { ApiEnv } from "../env.server.ts";
import { signedIn } from "../http/authentication.server.ts";
import { answers, bearer, iso } from "../http/schemas.server.ts";
import { unreadNotices } from "../notices/notices.server.ts";

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
    assistants: z
      .array(z.object({ id: z.string(), name: z.string() }))
      .openapi({ description: "Con quién se puede hablar, además de los modelos." }),
  })
  .openapi("Dashboard");

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
    const columns = ["id", "title", "pinned", "lastMessageAt"] as const;
    const own = services.db
      .selectFrom("chats")
      .where("userId", "=", person.id)
      .where("archived", "=", 0)
      .where("sessionId", "is", null);
    const [pinned, recent, projects, { rows: assistants }, notices] = await Promise.all([
      own.where("pinned", "=", 1).orderBy("lastMessageAt", "desc").select(columns).execute(),
      own.where("pinned", "=", 0).orderBy("lastMessageAt", "desc").limit(chatsShown).select(columns).execute(),
      services.db
        .selectFrom("projects")
        .where(inProjectOf("projects.id", person.id))
        .orderBy("name")
        .select(["id", "name", "userId"])
        .execute(),
      findAssistants(services.db, { userId: person.id }),
      unreadNotices(services.db, person.id),
    ]);
    const chats = [...pinned, ...recent].map(({ id, title, pinned: isPinned, lastMessageAt }) => ({
      id,
      title,
      pinned: isPinned === 1,
      lastMessageAt: iso(lastMessageAt),
    }));
    const named = projects.map(({ id, name, userId }) => ({ id, name, own: userId === person.id }));
    return c.json({ aside: { chats, projects: named }, notices, assistants }, 200);
  },
);

const findAssistants = prepared((db, { userId }: { userId: string }) =>
  db
    .selectFrom("assistants")
    .where((e) => e.or([e("userId", "=", userId), e.and([e("shared", "=", 1), usableBy("assistants", userId)])]))
    .orderBy("name")
    .limit(limits.listMax)
    .select(["id", "name"]),
);
