import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import { isTaken } from "../../db/errors.server.ts";
import { inProjectOf } from "../../db/people/shared-work.server.ts";
import { newRow } from "../../db/rows.server.ts";
import type { FolderRow } from "../../db/tables.ts";
import { skippedIn } from "../../files/drives/skipped.server.ts";
import { limits } from "../../process/limits.ts";
import type { ApiEnv, Services } from "../env.server.ts";
import { auditOthers } from "../http/audit.server.ts";
import { active, isAdmin, noProgram, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, invalid, notFound, Problem } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { answers, bearer, id, idParam, isoOrNull, rowFields, takes, timesOf } from "../http/schemas.server.ts";
import { seeProject, writesInProject } from "../http/visibility.server.ts";
import { refuseOnHold } from "../retention/holds.server.ts";
import { findAccount, folderPath, listOrRefuse } from "./drive-accounts.server.ts";

const folder = z
  .object({
    ...rowFields,
    userId: z.string(),
    projectId: z.string(),
    drive: z.string().openapi({ description: "El nombre del servidor." }),
    path: z.string().openapi({ description: "Desde la raíz de la cuenta; vacía: toda ella." }),
    documents: z.number(),
    lookedAt: z.string().nullable().openapi({ description: "null: se está mirando por primera vez." }),
    problem: z.string().nullable(),
    skipped: z
      .array(z.object({ path: z.string(), reason: z.string() }))
      .openapi({ description: "Documentos que no se han tomado, y por qué." }),
  })
  .openapi("Folder");

const reads = { security: bearer, middleware: [signedIn, active] };
const writes = { security: bearer, middleware: [signedIn, noProgram, active, publishes("project")] };

const listRoute = createRoute({
  method: "get",
  path: "/",
  ...reads,
  request: { query: z.object({ projectId: id }) },
  responses: { 200: answers(z.object({ items: z.array(folder) }), "Las carpetas conectadas de un proyecto.") },
});
const list: RouteHandler<typeof listRoute, ApiEnv> = async (c) => {
  const { db } = c.var.services;
  const project = await seeProject(c, c.req.valid("query").projectId);
  const rows = await shownFolders(c.var.services).where("folders.projectId", "=", project.id).execute();
  const counted = await db
    .selectFrom("files")
    .where("folderId", "in", db.selectFrom("folders").where("projectId", "=", project.id).select("id"))
    .groupBy("folderId")
    .select(["folderId", (e) => e.fn.countAll<number>().as("documents")])
    .execute();
  const countOf = (folderId: string) => Number(counted.find((one) => one.folderId === folderId)?.documents ?? 0);
  return c.json({ items: rows.map((row) => showFolder(row, countOf(row.id))) }, 200);
};

const newFolder = z.strictObject({
  driveId: id,
  projectId: id,
  path: folderPath,
});
const createRouteOf = createRoute({
  method: "post",
  path: "/",
  ...writes,
  request: { body: takes(newFolder) },
  responses: { 201: answers(folder, "La carpeta, que se mira enseguida y después cada hora.") },
});
const create: RouteHandler<typeof createRouteOf, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const { driveId, projectId, path } = c.req.valid("json");
  await countAttempt(c, "trial", person.id);
  if (!(await writesInProject(services, person, projectId))) throw invalid("projectId", "Ese proyecto no existe.");
  const { id: accountId, account } = await findAccount(services, person, driveId);
  await listOrRefuse("path", account, path);
  const now = Date.now();
  const row: FolderRow = {
    ...{ ...newRow(now), userId: person.id, accountId, projectId, path },
    ...{ lookedAt: null, problem: null, refusedAt: null, skipped: "[]" },
  };
  const others = services.db.selectFrom("folders").where("userId", "=", person.id).select("id");
  if ((await others.execute()).length >= limits.folders) {
    throw invalid("path", `Puedes tener ${limits.folders} carpetas conectadas; quita antes alguna.`);
  }
  await services.db
    .transaction()
    .execute(async (trx) => {
      await trx.insertInto("folders").values(row).execute();
      await services.jobs.add({ kind: "folder", userId: person.id, subjectId: row.id }, trx);
    })
    .catch((error) => {
      throw isTaken(error) ? invalid("path", "Esa carpeta ya está en el proyecto.") : error;
    });
  services.jobs.wake("folder");
  const stored = await shownFolders(services).where("folders.id", "=", row.id).executeTakeFirstOrThrow(notFound);
  return c.json(showFolder(stored, 0), 201);
};

const lookRoute = createRoute({
  method: "post",
  path: "/{id}/look",
  ...writes,
  request: { params: idParam },
  responses: { 204: { description: "Se mira otra vez, en segundo plano, también lo que no se había podido tomar." } },
});
const look: RouteHandler<typeof lookRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const { db, jobs } = services;
  const row = await db
    .selectFrom("folders")
    .where("id", "=", c.req.valid("param").id)
    .where(inProjectOf("folders.projectId", person.id))
    .selectAll()
    .executeTakeFirstOrThrow(notFound);
  await countAttempt(c, "trial", person.id);
  // Forgets refused files, so that they are tried again; keeps closed subfolders with their times.
  const skipped = JSON.stringify(skippedIn(row).filter(({ closedAt }) => closedAt !== undefined));
  await db.updateTable("folders").set({ skipped }).where("id", "=", row.id).execute();
  const waiting = db.selectFrom("jobs").where("kind", "=", "folder").where("subjectId", "=", row.id);
  if (!(await waiting.where("state", "=", "waiting").select("id").executeTakeFirst())) {
    await jobs.add({ kind: "folder", userId: row.userId, subjectId: row.id });
  }
  jobs.wake("folder");
  return c.body(null, 204);
};

const removeRoute = createRoute({
  method: "delete",
  path: "/{id}",
  ...writes,
  request: { params: idParam },
  responses: {
    204: { description: "La carpeta no está ya en el proyecto, ni sus documentos; en su servidor siguen." },
  },
});
const remove: RouteHandler<typeof removeRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const row = await services.db
    .selectFrom("folders")
    .innerJoin("projects as p", "p.id", "folders.projectId")
    .where("folders.id", "=", c.req.valid("param").id)
    .selectAll("folders")
    .select("p.userId as ownerId")
    .executeTakeFirstOrThrow(notFound);
  // The folder's person, the project's owner or an administrator removes it.
  if (![row.userId, row.ownerId].includes(person.id) && !isAdmin(person)) throw notFound();
  await refuseOnHold(services.db, person, row.userId);
  const own = services.db.selectFrom("files").where("folderId", "=", row.id).select("id");
  const files = await own.execute();
  await services.db.transaction().execute(async (trx) => {
    const { numDeletedRows } = await trx.deleteFrom("folders").where("id", "=", row.id).executeTakeFirst();
    if (numDeletedRows === 0n) throw new Problem(409, "Otra persona la está quitando.");
    await auditOthers(trx, c, row.userId, "delete", "folder", row.id, { before: { path: row.path } });
  });
  await services.files.delete(files.map((file) => file.id));
  return c.body(null, 204);
};

/** Folders at servers of files whose documents are those of a project (`files/drives/look.server.ts`). */
export const folders = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(listRoute, list)
  .openapi(createRouteOf, create)
  .openapi(lookRoute, look)
  .openapi(removeRoute, remove);

const shownFolders = ({ db }: Services) =>
  db
    .selectFrom("folders")
    .innerJoin("driveAccounts as a", "a.id", "folders.accountId")
    .innerJoin("drives", "drives.id", "a.driveId")
    .orderBy("folders.id")
    .selectAll("folders")
    .select("drives.name as drive");

const showFolder = (
  { accountId: _, refusedAt: __, ...row }: FolderRow & { drive: string },
  documents: number,
): z.output<typeof folder> => ({
  ...row,
  ...timesOf(row),
  documents,
  lookedAt: isoOrNull(row.lookedAt),
  skipped: skippedIn(row).map(({ path, reason }) => ({ path, reason })),
});
