import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { PageRow } from "../db/tables.ts";
import { isAdmin, maybeSignedIn } from "./authentication.server.ts";
import type { ApiEnv } from "./env.server.ts";
import { contains, listOf, listPage, listQuery } from "./list.server.ts";
import { answerInvalid, notFound } from "./problem.server.ts";
import { answers, idParam, iso } from "./schemas.server.ts";

const page = z
  .object({
    id: z.string(),
    createdAt: z.string(),
    updatedAt: z.string(),
    slug: z.string(),
    title: z.string(),
    description: z.string(),
    body: z.string(),
    published: z.boolean(),
    position: z.number(),
    inMenu: z.boolean(),
  })
  .openapi("Page");

const showPage = (row: PageRow): z.output<typeof page> => ({
  ...row,
  createdAt: iso(row.createdAt),
  updatedAt: iso(row.updatedAt),
  published: row.published === 1,
  inMenu: row.inMenu === 1,
});

/** Public pages: the published ones for everyone, signed in or not; all of them for admins. */
export const pages = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(
    createRoute({
      method: "get",
      path: "/",
      middleware: [maybeSignedIn],
      request: { query: listQuery },
      responses: { 200: answers(listOf(page), "Las páginas publicadas; para administradores, todas.") },
    }),
    async (c) => {
      const query = c.req.valid("query");
      const visible = c.var.services.db
        .selectFrom("pages")
        .selectAll("pages")
        .$if(!isAdmin(c.var.person), (q) => q.where("pages.published", "=", 1))
        .$if(Boolean(query.q), (q) => q.where(contains("pages.title", query.q ?? "")));
      const { rows, nextCursor, total } = await listPage(visible, query, {
        table: "pages",
        sortable: [
          { column: "position", direction: "asc" },
          { column: "title", direction: "asc" },
          { column: "updatedAt", direction: "desc" },
        ],
        filters: { slug: "text", published: "flag", inMenu: "flag" },
      });
      return c.json({ items: rows.map(showPage), nextCursor, total }, 200);
    },
  )
  .openapi(
    createRoute({
      method: "get",
      path: "/{id}",
      middleware: [maybeSignedIn],
      request: { params: idParam },
      responses: { 200: answers(page, "La página.") },
    }),
    async (c) => {
      const row = await c.var.services.db
        .selectFrom("pages")
        .where("id", "=", c.req.valid("param").id)
        .$if(!isAdmin(c.var.person), (q) => q.where("published", "=", 1))
        .selectAll()
        .executeTakeFirst();
      if (!row) throw notFound();
      return c.json(showPage(row), 200);
    },
  );
