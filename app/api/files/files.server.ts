import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { inProjectOf } from "../../db/people/shared-work.server.ts";
import type { FileRow } from "../../db/tables.ts";
import { cutHere } from "../../files/cut-here.server.ts";
import { isImage } from "../../files/media-type.server.ts";
import type { Variant } from "../../files/storage/storage.server.ts";
import { attachmentName } from "../chats/chat-export.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { auditOthers } from "../http/audit.server.ts";
import { active, isAdmin, signedIn } from "../http/authentication.server.ts";
import { contains, listPage } from "../http/list.server.ts";
import { answerInvalid, notFound, Problem } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { answerBytes } from "../http/ranges.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { deletionRoute, itemRoute, listRoute } from "../http/resource-routes.server.ts";
import { answers, bearer, bytes, idParam, rowFields, timesOf } from "../http/schemas.server.ts";
import { findFile, lookUpFile, ofSession, seeFile } from "../http/visibility.server.ts";
import { refuseOnHold } from "../retention/holds.server.ts";

export const file = z
  .object({
    ...rowFields,
    userId: z.string(),
    projectId: z.string().nullable(),
    name: z.string(),
    address: z.string().nullable().openapi({ description: "De qué dirección de internet se tomó." }),
    folderId: z.string().nullable().openapi({ description: "De qué carpeta conectada se toma." }),
    mediaType: z.string(),
    size: z.number().openapi({ description: "En bytes." }),
    width: z.number().nullable(),
    height: z.number().nullable(),
    pages: z.number().nullable(),
    hasText: z.boolean().openapi({ description: "Si se ha podido leer algún texto en él." }),
    cut: z.boolean().openapi({ description: "Si solo se ha leído su comienzo." }),
    state: z
      .enum(["reading", "ready", "unread"])
      .openapi({ description: "Si se está leyendo, si está leído, o si no se ha podido leer." }),
    problem: z.string().nullable().openapi({ description: "Por qué no se ha podido leer." }),
    temporary: z.boolean().openapi({ description: "Aún no enviado: se borra pasadas 24 horas." }),
  })
  .openapi("File");

export const showFile = (row: FileRow): z.output<typeof file> => ({
  id: row.id,
  ...timesOf(row),
  userId: row.userId,
  projectId: row.projectId,
  name: row.name,
  address: row.address,
  folderId: row.folderId,
  mediaType: row.mediaType,
  size: row.size,
  width: row.width,
  height: row.height,
  pages: row.pages,
  hasText: Boolean(row.text?.trim()),
  cut: row.text?.endsWith(cutHere) ?? false,
  state: row.ready === 1 ? "ready" : row.problem === null ? "reading" : "unread",
  problem: row.problem,
  temporary: row.temporary === 1,
});

export const variant = z
  .enum(["original", "image", "preview"], "variant tiene que ser original, image o preview.")
  .default("original");
const passage = z.object({ position: z.number(), page: z.number().nullable(), text: z.string() });
const passagesAtOnce = 100;

const common = { security: bearer, middleware: [signedIn, active, publishes("file")] };

const listFilesRoute = listRoute(common, file, "Los archivos de la persona; para administradores, todos.");
const listFiles: RouteHandler<typeof listFilesRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const query = c.req.valid("query");
  const visible = services.db
    .selectFrom("files")
    .selectAll("files")
    .where(ofSession(person))
    .$if(!isAdmin(person), (q) =>
      q.where((e) => e.or([e("files.userId", "=", person.id), inProjectOf("files.projectId", person.id)])),
    )
    .where(contains("files.name", query.q));
  const { rows, ...rest } = await listPage(services.db, visible, query, {
    table: "files",
    sortable: [
      { number: "createdAt", direction: "desc" },
      { text: "name", direction: "asc" },
    ],
    filters: { userId: "text", projectId: "text", mediaType: "text", temporary: "flag", ready: "flag" },
  });
  return c.json({ items: rows.map(showFile), ...rest }, 200);
};

const readFileRoute = itemRoute(common, file, "El archivo, sin su contenido.");
const readFile: RouteHandler<typeof readFileRoute, ApiEnv> = async (c) =>
  c.json(showFile(await lookUpFile(c, c.req.valid("param").id)), 200);

const listPassagesRoute = createRoute({
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
});
const listPassages: RouteHandler<typeof listPassagesRoute, ApiEnv> = async (c) => {
  const { db } = c.var.services;
  const row = await seeFile(c, c.req.valid("param").id);
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
};

const readContentRoute = createRoute({
  method: "get",
  path: "/{id}/content",
  ...common,
  request: {
    params: idParam,
    query: z.object({ variant }),
  },
  responses: {
    200: {
      content: { "*/*": { schema: bytes } },
      description: "El archivo como se subió, para guardarlo; o la imagen, hecha de nuevo, para verla.",
    },
    206: { description: "Una parte, con `Range`." },
    304: { description: "El mismo que ya se tiene." },
    416: { description: "El archivo acaba antes de esa parte." },
  },
});
const readContent: RouteHandler<typeof readContentRoute, ApiEnv> = async (c) => {
  const row = await seeFile(c, c.req.valid("param").id);
  return answerContent(c, row, c.req.valid("query").variant);
};

const readAgainRoute = createRoute({
  method: "post",
  path: "/{id}/reading",
  ...common,
  request: { params: idParam },
  responses: { 202: answers(file, "Se lee otra vez, en segundo plano: lo dice su `state`.") },
});
const readAgain: RouteHandler<typeof readAgainRoute, ApiEnv> = async (c) => {
  const { services, person } = c.var;
  const row = await findFile(services, person, c.req.valid("param").id);
  if (row.ready === 0 && row.problem === null) throw new Problem(409, "Este archivo ya se está leyendo.");
  await countAttempt(c, "upload", person.id);
  return c.json(showFile(await services.files.readAgain(row)), 202);
};

const deleteFileRoute = deletionRoute(common, "El archivo ya no existe; los mensajes conservan su nombre.");
const deleteFile: RouteHandler<typeof deleteFileRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const row = await findFile(services, person, c.req.valid("param").id);
  if (row.folderId)
    throw new Problem(409, "Este documento viene de una carpeta conectada: quítalo allí, o quita la carpeta.");
  const ofArtifact = services.db.selectFrom("artifacts").where("fileId", "=", row.id).select("id");
  if (await ofArtifact.executeTakeFirst())
    throw new Problem(409, "Este documento es de un escrito: elimina el escrito.");
  if (!row.temporary && !row.sessionId) await refuseOnHold(services.db, person, row.userId);
  await services.db.transaction().execute(async (trx) => {
    await trx.deleteFrom("files").where("id", "=", row.id).execute();
    await auditOthers(trx, c, row.userId, "delete", "file", row.id, { before: { name: row.name } });
  });
  await services.files.delete([row.id]);
  return c.body(null, 204);
};

/** The files of a person: attached to messages, documents of projects, or waiting to be sent. */
export const files = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(listFilesRoute, listFiles)
  .openapi(readFileRoute, readFile)
  .openapi(listPassagesRoute, listPassages)
  .openapi(readContentRoute, readContent)
  .openapi(readAgainRoute, readAgain)
  .openapi(deleteFileRoute, deleteFile);

/**
 * The content of a file. Originals are always downloads, never shown in the page's origin; only re-encoded images are shown.
 * Throws 404 for an image variant of a file that is no image.
 */
export async function answerContent(c: Context<ApiEnv>, row: FileRow, variant: Variant) {
  const remade = variant !== "original";
  if (remade && !isImage(row.mediaType)) throw notFound();
  const tag = `"${row.sha256.slice(0, 32)}-${variant}"`;
  const headers = {
    // No file is ever a page of this site.
    "Content-Type": remade ? "image/jpeg" : row.mediaType === "text/html" ? "text/plain" : row.mediaType,
    "Content-Disposition": remade ? "inline" : attachmentName(row.name),
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "private, no-cache",
    ETag: tag,
  };
  return answerBytes(c, headers, async () => {
    const content = await c.var.services.files.storage.stream(row.id, variant);
    if (!content) throw new Problem(404, "El contenido de este archivo ya no está en el servidor.");
    return content;
  });
}
