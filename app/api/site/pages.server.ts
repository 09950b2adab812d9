import { OpenAPIHono, z } from "@hono/zod-openapi";
import type { PageRow } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import type { ApiEnv } from "../env.server.ts";
import { isAdmin, maybeSignedIn } from "../http/authentication.server.ts";
import type { Resource } from "../http/crud.server.ts";
import { contains, listPage } from "../http/list.server.ts";
import { answerInvalid, notFound } from "../http/problem.server.ts";
import { itemRoute, listRoute } from "../http/resource-routes.server.ts";
import { flag, line, position, rowFields, text, timesOf } from "../http/schemas.server.ts";

/** Slugs that are taken by other routes; a test compares them with the routes that there are. */
export const ownPaths: ReadonlySet<string> = new Set([
  "accesibilidad",
  "admin",
  "assets",
  "auth",
  "avisos",
  "canal",
  "compartido",
  "compartir",
  "conversation",
  "health",
  "icons",
  "metrics",
  "paginas-ligeras",
  "partes",
  "ready",
  "sidebar",
  "sin-conexion",
  "user",
  "v1",
]);

const fields = {
  slug: text("La dirección", limits.slug)
    .transform((slug) => slug.replace(/^\//, "").toLowerCase())
    .refine(
      (slug) => /^([a-z0-9]+(-[a-z0-9]+)*)?$/.test(slug),
      "La dirección solo lleva letras sin acento, números y guiones.",
    )
    .refine((slug) => !ownPaths.has(slug), "Esa dirección ya la usa Tertulia."),
  title: line("El título", limits.chatTitle, 1),
  description: line("La descripción", limits.pageDescription).default(""),
  body: text("El texto", limits.pageBody).default(""),
  published: flag.default(false),
  position,
  inMenu: flag.default(false),
  mustAccept: flag
    .default(false)
    .openapi({ description: "Si cada persona tiene que aceptarla antes de seguir, y otra vez si su texto cambia." }),
};
const newPage = z.strictObject(fields);
const page = z.object({ ...rowFields, ...fields }).openapi("Page");

const showPage = ({ textAt: _, ...row }: PageRow): z.output<typeof page> => ({
  ...row,
  ...timesOf(row),
  published: row.published === 1,
  inMenu: row.inMenu === 1,
  mustAccept: row.mustAccept === 1,
});

const list: Resource<"pages", typeof page, typeof newPage>["list"] = {
  table: "pages",
  searched: ["title"],
  sortable: [
    { column: "position", direction: "asc" },
    { column: "title", direction: "asc" },
    { column: "updatedAt", direction: "desc" },
  ],
  filters: { slug: "text", published: "flag", inMenu: "flag" },
};

const forAll = { middleware: [maybeSignedIn] };

/** Public pages: the published ones for everyone, signed in or not; all of them for admins. */
export const pages = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(listRoute(forAll, page, "Las páginas publicadas; para administradores, todas."), async (c) => {
    const query = c.req.valid("query");
    const visible = c.var.services.db
      .selectFrom("pages")
      .selectAll("pages")
      .$if(!isAdmin(c.var.person), (q) => q.where("pages.published", "=", 1))
      .where(contains("pages.title", query.q));
    const { rows, ...rest } = await listPage(c.var.services.db, visible, query, list);
    return c.json({ items: rows.map(showPage), ...rest }, 200);
  })
  .openapi(itemRoute(forAll, page, "La página."), async (c) => {
    const row = await c.var.services.db
      .selectFrom("pages")
      .where("id", "=", c.req.valid("param").id)
      .$if(!isAdmin(c.var.person), (q) => q.where("published", "=", 1))
      .selectAll()
      .executeTakeFirstOrThrow(notFound);
    return c.json(showPage(row), 200);
  });

/** The description of pages for the write routes of `crud.server.ts`, which are for admins. */
export const pageResource: Resource<"pages", typeof page, typeof newPage> = {
  table: "pages",
  name: "page",
  byPrograms: true,
  shown: page,
  body: newPage,
  method: "put",
  show: showPage,
  columns: ({ published, inMenu, mustAccept, ...given }) => ({
    ...given,
    ...(published !== undefined && { published: published ? 1 : 0 }),
    ...(inMenu !== undefined && { inMenu: inMenu ? 1 : 0 }),
    ...(mustAccept !== undefined && { mustAccept: mustAccept ? 1 : 0 }),
  }),
  complete: (_services, row, before) => ({ ...row, textAt: saysElse(row, before) ? row.updatedAt : before.textAt }),
  list,
  unique: { field: "slug", sentence: "Ya hay una página con esa dirección." },
};

/** Whether a page asks for something else than before, so that it has to be accepted again. */
const saysElse = (row: PageRow, before: PageRow | undefined): before is undefined =>
  before?.body !== row.body ||
  before.title !== row.title ||
  before.mustAccept + before.published < row.mustAccept + row.published;
