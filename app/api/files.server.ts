import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { FileRow } from "../db/tables.ts";
import { isImage } from "../files/media-type.server.ts";
import type { Variant } from "../files/storage.server.ts";
import { findFile, ofSession } from "./access.server.ts";
import { auditOthers } from "./audit.server.ts";
import { active, isAdmin, signedIn } from "./authentication.server.ts";
import { attachmentName } from "./chat-export.server.ts";
import type { ApiEnv, Services } from "./env.server.ts";
import { contains, listOf, listPage, listQuery } from "./list.server.ts";
import { answerInvalid, notFound } from "./problem.server.ts";
import { answers, bearer, idParam, iso } from "./schemas.server.ts";

export const file = z
  .object({
    id: z.string(),
    createdAt: z.string(),
    updatedAt: z.string(),
    userId: z.string(),
    projectId: z.string().nullable(),
    name: z.string(),
    mediaType: z.string(),
    size: z.number().openapi({ description: "En bytes." }),
    width: z.number().nullable(),
    height: z.number().nullable(),
    pages: z.number().nullable(),
    hasText: z.boolean().openapi({ description: "Si se ha podido leer algún texto en él." }),
    temporary: z.boolean().openapi({ description: "Aún no enviado: se borra pasadas 24 horas." }),
  })
  .openapi("File");

export const showFile = (row: FileRow): z.output<typeof file> => ({
  id: row.id,
  createdAt: iso(row.createdAt),
  updatedAt: iso(row.updatedAt),
  userId: row.userId,
  projectId: row.projectId,
  name: row.name,
  mediaType: row.mediaType,
  size: row.size,
  width: row.width,
  height: row.height,
  pages: row.pages,
  hasText: Boolean(row.text?.trim()),
  temporary: row.temporary === 1,
});

export const variant = z
  .enum(["original", "image", "preview"], "variant tiene que ser original, image o preview.")
  .default("original");
const passage = z.object({ position: z.number(), page: z.number().nullable(), text: z.string() });
const passagesAtOnce = 100;

const common = { security: bearer, middleware: [signedIn, active] };
const one = { ...common, path: "/{id}" as const };

/** The files of a person: attached to messages, documents of projects, or waiting to be sent. */
export const files = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(
    createRoute({
      method: "get",
      path: "/",
      ...common,
      request: { query: listQuery },
      responses: { 200: answers(listOf(file), "Los archivos de la persona; para administradores, todos.") },
    }),
    async (c) => {
      const { person, services } = c.var;
      const query = c.req.valid("query");
      const visible = services.db
        .selectFrom("files")
        .selectAll("files")
        .where("files.ready", "=", 1)
        .where(ofSession(person))
        .$if(!isAdmin(person), (q) => q.where("files.userId", "=", person.id))
        .$if(Boolean(query.q), (q) => q.where(contains("files.name", query.q ?? "")));
      const { rows, ...rest } = await listPage(services.db, visible, query, {
        table: "files",
        sortable: [
          { column: "createdAt", direction: "desc" },
          { column: "name", direction: "asc" },
        ],
        filters: { userId: "text", projectId: "text", mediaType: "text", temporary: "flag" },
      });
      return c.json({ items: rows.map(showFile), ...rest }, 200);
    },
  )
  .openapi(
    createRoute({
      method: "get",
      ...one,
      request: { params: idParam },
      responses: { 200: answers(file, "El archivo, sin su contenido.") },
    }),
    async (c) => c.json(showFile(await findFile(c.var.services, c.var.person, c.req.valid("param").id)), 200),
  )
  .openapi(
    createRoute({
      method: "get",
      path: "/{id}/passages",
      ...common,
      request: { params: idParam, query: z.object({ from: z.coerce.number().int().min(0).default(0) }) },
      responses: {
        200: answers(
          z.object({ items: z.array(passage), total: z.number() }),
          "Lo que se ha leído en el archivo, en pasajes, desde uno de ellos.",
        ),
      },
    }),
    async (c) => {
      const { db } = c.var.services;
      const row = await findFile(c.var.services, c.var.person, c.req.valid("param").id);
      const own = db.selectFrom("passages").where("fileId", "=", row.id);
      const items = await own
        .where("position", ">=", c.req.valid("query").from)
        .orderBy("position")
        .limit(passagesAtOnce)
        .select(["position", "page", "text"])
        .execute();
      const counted = await own.select((e) => e.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
      const shown = items.map((item) => ({ ...item, position: Number(item.position) }));
      return c.json({ items: shown, total: Number(counted.total) }, 200);
    },
  )
  .openapi(
    createRoute({
      method: "get",
      path: "/{id}/content",
      ...common,
      request: {
        params: idParam,
        query: z.object({ variant }),
      },
      responses: {
        200: {
          content: { "*/*": { schema: z.string() } },
          description: "El archivo como se subió, para guardarlo; o la imagen, hecha de nuevo, para verla.",
        },
      },
    }),
    async (c) => {
      const row = await findFile(c.var.services, c.var.person, c.req.valid("param").id);
      return (await contentOf(c.var.services, row, c.req.valid("query").variant, c.req.raw)) as never;
    },
  )
  .openapi(
    createRoute({
      method: "delete",
      ...one,
      request: { params: idParam },
      responses: { 204: { description: "El archivo ya no existe; los mensajes conservan su nombre." } },
    }),
    async (c) => {
      const row = await findFile(c.var.services, c.var.person, c.req.valid("param").id);
      await c.var.services.files.delete([row.id]);
      await auditOthers(c.var.services.db, c, row.userId, {
        action: "delete",
        resource: "file",
        resourceId: row.id,
        changes: { before: { name: row.name } },
      });
      return c.body(null, 204);
    },
  );

/**
 * The bytes of a file: as a download, never to be opened in the page's origin, unless it is an image that we made anew.
 * Throws 404 for an image of what is none.
 */
export async function contentOf(
  { files }: Pick<Services, "files">,
  row: FileRow,
  variant: Variant,
  request: Request,
): Promise<Response> {
  const remade = variant !== "original";
  if (remade && !isImage(row.mediaType)) throw notFound();
  const tag = `"${row.sha256.slice(0, 32)}-${variant}"`;
  const headers = {
    "Content-Type": remade ? "image/jpeg" : row.mediaType,
    "Content-Disposition": remade ? "inline" : attachmentName(row.name),
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "private, no-cache",
    ETag: tag,
  };
  if (request.headers.get("If-None-Match") === tag) return new Response(null, { status: 304, headers });
  const { body, size } = await files.storage.stream(row.id, variant);
  return new Response(body, { headers: { ...headers, "Content-Length": String(size) } });
}
