import { statfs } from "node:fs/promises";
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { sql } from "kysely";
import packageJson from "../../../package.json" with { type: "json" };
import { carriedOut } from "../../db/migrate.server.ts";
import { countLost } from "../../db/stored-secrets.server.ts";
import type { JobRow } from "../../db/tables.ts";
import { memoryInUse } from "../../process/telemetry/memory.server.ts";
import type { ApiEnv, Services } from "../env.server.ts";
import { admin, noProgram, signedIn } from "../http/authentication.server.ts";
import { answerInvalid } from "../http/problem.server.ts";
import { answers, bearer, iso } from "../http/schemas.server.ts";

const bytes = (description: string) => z.number().openapi({ description: `${description}, en bytes.` });
const shown = z
  .object({
    version: z.string(),
    node: z.string(),
    engine: z.enum(["sqlite", "postgres"]),
    engineVersion: z.string(),
    startedAt: z.string(),
    memory: bytes("La memoria de este proceso"),
    migrations: z.array(z.object({ name: z.string(), at: z.string().nullable() })),
    storage: z.object({
      database: bytes("La base de datos"),
      files: bytes("Los archivos de todos"),
      free: bytes("Lo que queda libre donde están los datos"),
      total: bytes("El tamaño de ese disco"),
    }),
    underway: z.object({
      replies: z.number().openapi({ description: "Respuestas que se están escribiendo." }),
      files: z.number().openapi({ description: "Archivos que se están leyendo." }),
      emails: z.number().openapi({ description: "Mensajes del buzón que aún no han salido por correo." }),
    }),
    processes: z
      .array(
        z.object({
          id: z.string(),
          host: z.string(),
          pid: z.number(),
          version: z.string(),
          startedAt: z.string(),
          replies: z.number(),
          memory: bytes("Su memoria"),
          delay: z.number().openapi({ description: "Lo que más se ha retrasado en los últimos segundos, en ms." }),
          ahead: z.number().openapi({ description: "Lo que su reloj va por delante del de la base de datos, en ms." }),
        }),
      )
      .openapi({ description: "Los procesos que atienden esta instalación." }),
    jobs: z
      .object({ waiting: z.number(), running: z.number(), failed: z.number() })
      .openapi({ description: "Lo que se hace por detrás." }),
    nightly: z
      .object({
        wanted: z.boolean().openapi({ description: "Si hay BACKUP_URL." }),
        at: z.string().nullable().openapi({ description: "La última copia buena." }),
        answers: z.boolean().openapi({ description: "Si el sitio de las copias contesta." }),
      })
      .openapi({ description: "Las copias de cada noche." }),
    mail: z.boolean().openapi({ description: "Si puede enviar correo." }),
    lost: z
      .object({ models: z.number(), tools: z.number(), accesses: z.number(), authenticators: z.number() })
      .openapi({
        description:
          "Claves de modelos, de herramientas y de accesos, y segundos pasos que se guardaron con otro secreto y no se pueden leer.",
      }),
  })
  .openapi("System");

/** Version, engine, storage and current load. */
export const system = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(
  createRoute({
    method: "get",
    path: "/",
    security: bearer,
    middleware: [signedIn, noProgram, admin],
    responses: { 200: answers(shown, "Cómo está la instalación, para quien administra.") },
  }),
  async (c) => {
    const { services } = c.var;
    const { db, engine, mail } = services;
    const [migrations, engineVersion, storage, underway, lost, living, jobs, nightly] = await Promise.all([
      carriedOut(db, engine),
      versionOf(services),
      storageOf(services),
      underwayIn(services),
      countLost(db, services),
      services.processes.living(),
      jobsIn(services),
      nightlyOf(services),
    ]);
    return c.json(
      {
        version: packageJson.version,
        node: process.versions.node,
        engine,
        engineVersion,
        startedAt: iso(Date.now() - process.uptime() * 1000),
        memory: memoryInUse(),
        migrations: migrations.map(({ name, at }) => ({ name, at: at ? at.toISOString() : null })),
        storage,
        underway,
        processes: living.map(({ createdAt, updatedAt: _seen, ...one }) => ({ ...one, startedAt: iso(createdAt) })),
        jobs,
        nightly,
        mail: mail.available,
        lost,
      },
      200,
    );
  },
);

async function nightlyOf({ lastCopy, log }: Services) {
  try {
    const at = await lastCopy.at();
    return { wanted: lastCopy.isWanted, at: at === undefined ? null : iso(at), answers: true };
  } catch (error) {
    log.warn({ err: error }, "el sitio de las copias no contesta");
    return { wanted: true, at: null, answers: false };
  }
}

async function versionOf({ db, engine }: Services): Promise<string> {
  const asked =
    engine === "sqlite"
      ? sql<{ v: string }>`select sqlite_version() as v`
      : sql<{ v: string }>`select current_setting('server_version') as v`;
  const { rows } = await asked.execute(db);
  return String(rows[0]?.v);
}

async function storageOf({ db, engine, config }: Services) {
  const disk = await statfs(config.dataDir);
  const files = await db.selectFrom("files").select(sql<number>`coalesce(sum(size), 0)`.as("bytes")).executeTakeFirst();
  const database = await (engine === "sqlite"
    ? sql<{ size: number }>`select page_count * page_size as size from pragma_page_count(), pragma_page_size()`
    : sql<{ size: number }>`select pg_database_size(current_database()) as size`
  ).execute(db);
  return {
    database: Number(database.rows[0]?.size),
    files: Number(files?.bytes),
    free: disk.bavail * disk.bsize,
    total: disk.blocks * disk.bsize,
  };
}

async function underwayIn({ db, mail }: Services) {
  const count = sql<number>`count(*)`.as("count");
  const [writing, reading, unsent] = await Promise.all([
    db.selectFrom("messages").where("status", "=", "streaming").select(count).executeTakeFirst(),
    db.selectFrom("files").where("ready", "=", 0).where("problem", "is", null).select(count).executeTakeFirst(),
    mail.available ? db.selectFrom("emails").where("sentAt", "is", null).select(count).executeTakeFirst() : undefined,
  ]);
  return { replies: Number(writing?.count), files: Number(reading?.count), emails: Number(unsent?.count ?? 0) };
}

async function jobsIn({ db }: Services) {
  const counted = await db
    .selectFrom("jobs")
    .groupBy("state")
    // Repeated jobs wait most of the time, and nobody waits for them.
    .where("key", "is", null)
    .select(["state", sql<number>`count(*)`.as("count")])
    .execute();
  const of = (state: JobRow["state"]) => Number(counted.find((one) => one.state === state)?.count ?? 0);
  return { waiting: of("waiting"), running: of("running"), failed: of("failed") };
}
