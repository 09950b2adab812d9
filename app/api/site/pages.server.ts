import { z } from "@hono/zod-openapi";
import { expressionBuilder } from "kysely";
import type { PageRow, Tables } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import { isAdmin } from "../http/authentication.server.ts";
import { everything, type Resource } from "../http/resource.server.ts";
import { flag, flagsOf, line, position, rowFields, text, timesOf } from "../http/schemas.server.ts";

const e = expressionBuilder<Tables, "pages">();

/** Slugs that are taken by other routes; a test compares them with the routes that there are. */
export const ownPaths: ReadonlySet<string> = new Set([
  "accesibilidad",
  "admin",
  "assets",
  "auth",
  "avisos",
  "canal",
  "compartido",
  "recibo",
  "compartir",
  "conversation",
  "health",
  "icons",
  "marca",
  "metrics",
  "paginas-ligeras",
  "partes",
  "ready",
  "sala",
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
    .refine((slug) => !ownPaths.has(slug), "Esa dirección ya la usa el programa."),
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

/** Public pages: the published ones for everybody, signed in or not; all of them for administrators. */
export const pages: Resource<"pages", typeof page, typeof newPage> = {
  table: "pages",
  name: "page",
  byPrograms: true,
  isPublic: true,
  shown: page,
  body: newPage,
  show: ({ textAt: _, ...row }) => ({
    ...row,
    ...timesOf(row),
    ...flagsOf(row, "published", "inMenu", "mustAccept"),
  }),
  columns: (given, { before, now }) => ({ ...given, textAt: saysElse(given, before) ? now : before.textAt }),
  sees: (person) => (isAdmin(person) ? everything : e("pages.published", "=", 1)),
  list: {
    searched: ["title"],
    sortable: [
      { number: "position", direction: "asc" },
      { text: "title", direction: "asc" },
      { number: "updatedAt", direction: "desc" },
      { text: "slug", direction: "asc" },
      { number: "published", direction: "desc" },
      { number: "inMenu", direction: "desc" },
    ],
    filters: { slug: "text", published: "flag", inMenu: "flag" },
  },
  unique: { field: "slug", sentence: "Ya hay una página con esa dirección." },
  says: { list: "Las páginas publicadas; para administradores, todas.", item: "La página." },
};

/** Whether a page asks for something else than before, so that it has to be accepted again. */
const saysElse = (after: z.output<typeof newPage>, before: PageRow | undefined): before is undefined =>
  before?.body !== after.body ||
  before.title !== after.title ||
  before.mustAccept + before.published < Number(after.mustAccept) + Number(after.published);
