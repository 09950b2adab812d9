import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { ApiEnv } from "../env.server.ts";
import { signedIn } from "../http/authentication.server.ts";
import { answers, bearer, iso } from "../http/schemas.server.ts";

const dashboardLists = z
  .object({
    aside: z.object({
      chats: z.array(z.object({ id: z.string(), title: z.string(), pinned: z.boolean(), lastMessageAt: z.string() })),
      projects: z.array(z.object({ id: z.string(), name: z.string() })),
    }),
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
    const [pinned, recent, projects] = await Promise.all([
      own.where("pinned", "=", 1).orderBy("lastMessageAt", "desc").select(columns).execute(),
      own.where("pinned", "=", 0).orderBy("lastMessageAt", "desc").limit(chatsShown).select(columns).execute(),
      services.db
        .selectFrom("projects")
        .where("userId", "=", person.id)
        .orderBy("name")
        .select(["id", "name"])
        .execute(),
    ]);
    const chats = [...pinned, ...recent].map(({ id, title, pinned: isPinned, lastMessageAt }) => ({
      id,
      title,
      pinned: isPinned === 1,
      lastMessageAt: iso(lastMessageAt),
    }));
    return c.json({ aside: { chats, projects } }, 200);
  },
);
