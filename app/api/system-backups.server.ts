import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { Backup, Backups } from "../db/backup.server.ts";
import { recordAudit } from "./audit.server.ts";
import { admin, signedIn } from "./authentication.server.ts";
import type { ApiEnv, Services } from "./env.server.ts";
import { answerInvalid, notFound, Problem } from "./problem.server.ts";
import { answers, bearer, iso } from "./schemas.server.ts";

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

const forAdmins = { security: bearer, middleware: [signedIn, admin] };

/** Copies of the embedded database; each is downloaded together with everybody's files. */
export const systemBackups = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(
    createRoute({
      method: "get",
      path: "/",
      ...forAdmins,
      responses: { 200: answers(z.object({ items: z.array(backup) }), "Las copias que hay, la última primero.") },
    }),
    async (c) => c.json({ items: ((await c.var.services.backups?.list()) ?? []).map(show) }, 200),
  )
  .openapi(
    createRoute({
      method: "post",
      path: "/",
      ...forAdmins,
      responses: { 201: answers(backup, "La copia hecha.") },
    }),
    async (c) => {
      const { services, person } = c.var;
      const made = await makeBackup(embedded(services));
      await recordAudit(services.db, c, {
        actorId: person.id,
        action: "create",
        resource: "backup",
        resourceId: made.name,
      });
      return c.json(show(made), 201);
    },
  )
  .openapi(
    createRoute({
      method: "get",
      path: "/{name}",
      ...forAdmins,
      request: { params: named },
      responses: {
        200: {
          content: { "application/x-tar": { schema: z.string().openapi({ format: "binary" }) } },
          description: "La base de datos y los archivos, en un .tar que se extrae en un DATA_DIR vacío.",
        },
      },
    }),
    async (c) => {
      const { services, person } = c.var;
      const found = await find(services, c.req.valid("param").name);
      await recordAudit(services.db, c, {
        actorId: person.id,
        action: "download",
        resource: "backup",
        resourceId: found.name,
      });
      return packed(found, services.config.dataDir) as never;
    },
  )
  .openapi(
    createRoute({
      method: "delete",
      path: "/{name}",
      ...forAdmins,
      request: { params: named },
      responses: { 204: { description: "La copia ya no existe." } },
    }),
    async (c) => {
      const { services, person } = c.var;
      const found = await find(services, c.req.valid("param").name);
      await embedded(services).delete(found);
      await recordAudit(services.db, c, {
        actorId: person.id,
        action: "delete",
        resource: "backup",
        resourceId: found.name,
      });
      return c.body(null, 204);
    },
  );

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
    // SQLITE_FULL, or the file system's own.
    const { code, errcode } = error as { code?: string; errcode?: number };
    if (code === "ENOSPC" || errcode === 13) throw new Problem(503, "No cabe otra copia: el disco está lleno.");
    throw error;
  }
}

/** The copy and the files of everybody, as one archive that is made while it is read. The master secret stays out. */
function packed({ name, path }: Backup, dataDir: string): Response {
  return new Response(Readable.toWeb(Readable.from(archive(path, dataDir))) as ReadableStream, {
    headers: {
      "Content-Type": "application/x-tar",
      "Content-Disposition": `attachment; filename="tertulia-${name.replace(/\.db$/, "")}.tar"`,
    },
  });
}

const block = 512;

async function* archive(copy: string, dataDir: string): AsyncGenerator<Uint8Array> {
  yield* entry(copy, "tertulia.db");
  const names = await readdir(join(dataDir, "files"), { recursive: true }).catch(() => []);
  for (const name of names.sort())
    if (!name.endsWith(".part")) yield* entry(join(dataDir, "files", name), `files/${name}`);
  yield new Uint8Array(2 * block);
}

/** One file of an archive; nothing for a folder, or for what somebody has deleted meanwhile. */
async function* entry(path: string, name: string): AsyncGenerator<Uint8Array> {
  // Only who downloads pays for it in memory.
  const { Header } = await import("tar");
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  if (!file) return;
  try {
    const stat = await file.stat();
    if (!stat.isFile()) return;
    const head = Buffer.alloc(block);
    new Header({ path: name, type: "File", mode: 0o600, size: stat.size, mtime: stat.mtime }).encode(head);
    yield head;
    // Files never change once they are stored, and neither do copies.
    for await (const part of file.createReadStream({ autoClose: false })) yield part as Uint8Array;
    yield new Uint8Array((block - (stat.size % block)) % block);
  } finally {
    await file.close();
  }
}
