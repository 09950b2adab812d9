import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import type { Backup, Backups } from "../../db/sqlite/backup.server.ts";
import { nameOf, type Storage } from "../../files/storage/storage.server.ts";
import { byteStream } from "../../process/byte-stream.server.ts";
import { faultOf } from "../../process/fault.ts";
import type { ApiEnv, Services } from "../env.server.ts";
import { recordEvent } from "../http/audit.server.ts";
import { admin, noProgram, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, notFound, Problem } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { answers, bearer, bytes, iso } from "../http/schemas.server.ts";
import { inspect } from "../inspections/inspect.server.ts";

const backup = z
  .object({
    name: z.string(),
    at: z.string(),
    size: z.number().openapi({ description: "De la base de datos, en bytes." }),
  })
  .openapi("Backup");
const named = z.object({
  name: z
    .string("Falta el nombre.")
    .max(200)
    .openapi({ param: { name: "name", in: "path" } }),
});

const show = ({ name, at, size }: Backup): z.output<typeof backup> => ({ name, at: iso(at), size });

const forAdmins = { security: bearer, middleware: [signedIn, noProgram, admin, publishes("system")] };

const listBackupsRoute = createRoute({
  method: "get",
  path: "/",
  ...forAdmins,
  responses: { 200: answers(z.object({ items: z.array(backup) }), "Las copias que hay, la última primero.") },
});
const listBackups: RouteHandler<typeof listBackupsRoute, ApiEnv> = async (c) =>
  c.json({ items: ((await c.var.services.backups?.list()) ?? []).map(show) }, 200);

const createBackupRoute = createRoute({
  method: "post",
  path: "/",
  ...forAdmins,
  responses: { 201: answers(backup, "La copia hecha.") },
});
const createBackup: RouteHandler<typeof createBackupRoute, ApiEnv> = async (c) => {
  const { services } = c.var;
  const made = await makeBackup(embedded(services));
  await recordEvent(c, "create", "backup", made.name);
  return c.json(show(made), 201);
};

const downloadBackupRoute = createRoute({
  method: "get",
  path: "/{name}",
  ...forAdmins,
  request: { params: named },
  responses: {
    200: {
      content: { "application/x-tar": { schema: bytes } },
      description: "La base de datos y los archivos, en un .tar que se extrae en un DATA_DIR vacío.",
    },
  },
});
const downloadBackup: RouteHandler<typeof downloadBackupRoute, ApiEnv> = async (c) => {
  const { services } = c.var;
  const found = await find(services, c.req.valid("param").name);
  await inspect(c, { resource: "backup", id: found.name, ownerId: null });
  await recordEvent(c, "download", "backup", found.name);
  const { body, headers } = packed(found, services.storage);
  return c.body(body, 200, headers);
};

const deleteBackupRoute = createRoute({
  method: "delete",
  path: "/{name}",
  ...forAdmins,
  request: { params: named },
  responses: { 204: { description: "La copia ya no existe." } },
});
const deleteBackup: RouteHandler<typeof deleteBackupRoute, ApiEnv> = async (c) => {
  const { services } = c.var;
  const found = await find(services, c.req.valid("param").name);
  await embedded(services).delete(found);
  await recordEvent(c, "delete", "backup", found.name);
  return c.body(null, 204);
};

/** Backups of the embedded database; a download also contains everybody's files. */
export const systemBackups = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(listBackupsRoute, listBackups)
  .openapi(createBackupRoute, createBackup)
  .openapi(downloadBackupRoute, downloadBackup)
  .openapi(deleteBackupRoute, deleteBackup);

function embedded({ backups }: Services): Backups {
  if (!backups) throw new Problem(409, "Esta instalación usa PostgreSQL: la copia se hace con pg_dump.");
  return backups;
}

async function find({ backups }: Services, name: string): Promise<Backup> {
  const found = await backups?.find(name);
  if (!found) throw notFound();
  return found;
}

async function makeBackup(backups: Backups): Promise<Backup> {
  try {
    return await backups.make("copia");
  } catch (error) {
    // SQLITE_FULL, or ENOSPC of the file system.
    const { code, errcode } = faultOf(error);
    if (code === "ENOSPC" || errcode === 13) throw new Problem(503, "No cabe otra copia: el disco está lleno.");
    throw error;
  }
}

/** Streams an archive of the backup and everybody's files, without the master secret. */
function packed(backup: Backup, storage: Storage) {
  return {
    body: byteStream(archive(backup, storage)),
    headers: {
      "Content-Type": "application/x-tar",
      "Content-Disposition": `attachment; filename="tertulia-${backup.name.replace(/\.db$/, "")}.tar"`,
    },
  };
}

const block = 512;

async function* archive({ path }: Backup, storage: Storage): AsyncGenerator<Uint8Array> {
  const { size, mtimeMs } = await stat(path);
  yield* entry("tertulia.db", { size, at: mtimeMs, body: createReadStream(path) });
  const known = filesIn(path);
  for await (const { id, variant, at } of storage.list()) {
    const content = known.has(id) ? await storage.stream(id, variant) : undefined;
    if (content) yield* entry(`files/${nameOf(id, variant)}`, { size: content.size, at, body: content.read() });
  }
  yield new Uint8Array(2 * block);
}

/** The ids of the files in a backup's database. Files of temporary chats and later uploads are left out of the archive. */
function filesIn(copy: string): Set<unknown> {
  const database = new DatabaseSync(copy, { readOnly: true });
  try {
    return new Set(
      database
        .prepare("select id from files")
        .all()
        .map(({ id }) => id),
    );
  } finally {
    database.close();
  }
}

/** One entry of the archive: a head, the content and zeros up to a whole block. Stored files and backups never change. */
async function* entry(
  path: string,
  { size, at, body }: { size: number; at: number; body: AsyncIterable<Uint8Array> },
): AsyncGenerator<Uint8Array> {
  // Loaded when first used, to save memory.
  const { Header } = await import("tar");
  const head = Buffer.alloc(block);
  new Header({ path, type: "File", mode: 0o600, size, mtime: new Date(at) }).encode(head);
  yield head;
  yield* body;
  yield new Uint8Array((block - (size % block)) % block);
}
