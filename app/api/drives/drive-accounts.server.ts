import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import { v7 as newId } from "uuid";
import type { Db } from "../../db/engine.server.ts";
import type { DriveRow } from "../../db/tables.ts";
import { type Account, DriveRefused, listFolder } from "../../files/drives/webdav.server.ts";
import { decrypt, encrypt } from "../../process/crypto.server.ts";
import { limits } from "../../process/limits.ts";
import type { ApiEnv, Person, Services } from "../env.server.ts";
import { recordAudit } from "../http/audit.server.ts";
import { active, noProgram, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, invalid, notFound, Problem } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { answers, bearer, idParam, isoOrNull, line, takes } from "../http/schemas.server.ts";
import { refuseOnHold } from "../retention/holds.server.ts";
import { mayConnect } from "./drives.server.ts";

const driveAccount = z
  .object({
    id: z.string().openapi({ description: "El id del servidor." }),
    name: z.string(),
    username: z.string().nullable().openapi({ description: "null: sin conectar." }),
    connectedAt: z.string().nullable(),
    usable: z.boolean().openapi({ description: "Si el servidor está ahora a su alcance." }),
  })
  .openapi("DriveAccount");

const reads = { security: bearer, middleware: [signedIn, noProgram, active] };
const writes = { security: bearer, middleware: [signedIn, noProgram, active, publishes("folder")] };

const listAccountsRoute = createRoute({
  method: "get",
  path: "/",
  ...reads,
  responses: {
    200: answers(z.object({ items: z.array(driveAccount) }), "Los servidores de archivos, y la cuenta en cada uno."),
  },
});
const listAccounts: RouteHandler<typeof listAccountsRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const rows = await services.db
    .selectFrom("drives")
    .leftJoin("driveAccounts as a", (join) => join.onRef("a.driveId", "=", "drives.id").on("a.userId", "=", person.id))
    // A person can always see and end an account of their own.
    .where((e) => e.or([mayConnect(person), e("a.id", "is not", null)]))
    .orderBy("drives.name")
    .select(["drives.id", "drives.name", "a.username", "a.createdAt"])
    .select(mayConnect(person).as("usable"))
    .execute();
  const items = rows.map(({ createdAt, usable, ...row }) => ({
    ...row,
    usable: Boolean(usable),
    connectedAt: isoOrNull(createdAt),
  }));
  return c.json({ items }, 200);
};

const connection = z.strictObject({
  username: line("El usuario", 255, 1),
  password: line("La contraseña", 500, 1),
});

const connectRoute = createRoute({
  method: "put",
  path: "/{id}",
  ...writes,
  request: { params: idParam, body: takes(connection) },
  responses: { 204: { description: "La cuenta está conectada; lo que había de antes sigue con ella." } },
});
const connect: RouteHandler<typeof connectRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  await countAttempt(c, "trial", person.id);
  const drive = await findDrive(services.db, person, c.req.valid("param").id);
  const given = c.req.valid("json");
  await listOrRefuse("password", { ...given, address: drive.address }, "");
  await services.db.transaction().execute(async (trx) => {
    const before = await trx
      .selectFrom("driveAccounts")
      .where("userId", "=", person.id)
      .where("driveId", "=", drive.id)
      .select(["id", "username"])
      .executeTakeFirst();
    // Another account there may read other files, which would become documents of the previous account's folders.
    if (before && before.username !== given.username) {
      throw invalid("username", `Está conectada la cuenta «${before.username}». Desconéctala antes.`);
    }
    const now = Date.now();
    const id = before?.id ?? newId();
    const password = encrypt(given.password, services.toolKey, id);
    if (before) await trx.updateTable("driveAccounts").set({ password, updatedAt: now }).where("id", "=", id).execute();
    else {
      const whose = { userId: person.id, driveId: drive.id, username: given.username };
      const { numInsertedOrUpdatedRows } = await trx
        .insertInto("driveAccounts")
        .values({ id, createdAt: now, updatedAt: now, ...whose, password })
        .onConflict((conflict) => conflict.columns(["userId", "driveId"]).doNothing())
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows === 0n) throw new Problem(409, "Se está conectando en otra pestaña.");
    }
    await recordAudit(trx, c, "sign-in", "drive", drive.id, { ownerId: person.id });
  });
  return c.body(null, 204);
};

/** Path of a folder, from the root of its account. */
export const folderPath = z
  .string("La ruta tiene que ser un texto.")
  .max(limits.folderPath, "Esa ruta es demasiado larga.")
  .transform((path) => path.split("/").filter(Boolean).join("/"))
  .refine((path) => !/(?:^|\/)\.{1,2}(?:\/|$)|\p{Cc}|\p{Cs}/u.test(path), "Esa ruta no es de una carpeta.")
  .openapi({ example: "Documentos/Actas" });
const below = z.object({ path: folderPath.default("") });
const listFoldersRoute = createRoute({
  method: "get",
  path: "/{id}/folders",
  ...reads,
  request: { params: idParam, query: below },
  responses: {
    200: answers(
      z.object({ items: z.array(z.object({ path: z.string(), name: z.string() })), files: z.number() }),
      "Las carpetas que hay dentro de una, y cuántos archivos hay en ella.",
    ),
  },
});
const listFolders: RouteHandler<typeof listFoldersRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const { account } = await findAccount(services, person, c.req.valid("param").id);
  const { path } = c.req.valid("query");
  const entries = await listOrRefuse("path", account, path);
  const inside = entries.filter((entry) => entry.isFolder);
  const items = inside
    .map((entry) => ({ path: entry.path, name: entry.path.slice(path ? path.length + 1 : 0) }))
    .sort((a, b) => a.name.localeCompare(b.name, "es"));
  return c.json({ items, files: entries.length - inside.length }, 200);
};

const disconnectRoute = createRoute({
  method: "delete",
  path: "/{id}",
  ...writes,
  request: { params: idParam },
  responses: { 204: { description: "La cuenta ya no está conectada, y los documentos de sus carpetas no están." } },
});
const disconnect: RouteHandler<typeof disconnectRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const { id } = c.req.valid("param");
  await refuseOnHold(services.db, person, person.id);
  const files = await services.db
    .selectFrom("files")
    .innerJoin("folders", "folders.id", "files.folderId")
    .innerJoin("driveAccounts as a", "a.id", "folders.accountId")
    .where("a.userId", "=", person.id)
    .where("a.driveId", "=", id)
    .select("files.id")
    .execute();
  await services.db.transaction().execute(async (trx) => {
    const { numDeletedRows } = await trx
      .deleteFrom("driveAccounts")
      .where("userId", "=", person.id)
      .where("driveId", "=", id)
      .executeTakeFirst();
    if (numDeletedRows === 0n) throw notFound();
    await recordAudit(trx, c, "sign-out", "drive", id, { ownerId: person.id });
  });
  await services.files.delete(files.map((file) => file.id));
  return c.body(null, 204);
};

/** A person's own accounts at servers of files, each with a password for programs. */
export const driveAccounts = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(listAccountsRoute, listAccounts)
  .openapi(connectRoute, connect)
  .openapi(listFoldersRoute, listFolders)
  .openapi(disconnectRoute, disconnect);

/** Throws 404. */
const findDrive = (db: Db, person: Person, id: string): Promise<DriveRow> =>
  db.selectFrom("drives").where("id", "=", id).where(mayConnect(person)).selectAll().executeTakeFirstOrThrow(notFound);

/** The person's account at a server that they may use. Throws 404. */
export async function findAccount(
  { db, toolKey }: Services,
  person: Person,
  driveId: string,
): Promise<{ id: string; account: Account }> {
  const { address } = await findDrive(db, person, driveId);
  const { id, username, password } = await db
    .selectFrom("driveAccounts")
    .where("userId", "=", person.id)
    .where("driveId", "=", driveId)
    .selectAll()
    .executeTakeFirstOrThrow(notFound);
  return { id, account: { address, username, password: decrypt(password, toolKey, id) } };
}

/** Entries of a folder. Throws 422 with the reason, at the field `name`, if they can't be listed. */
export const listOrRefuse = (name: string, account: Account, path: string) =>
  listFolder(account, path, AbortSignal.timeout(30_000)).catch((error) => {
    if (!(error instanceof DriveRefused)) throw error;
    throw invalid(name, error.message);
  });
