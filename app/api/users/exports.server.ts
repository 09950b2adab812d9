import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import type { Db } from "../../db/engine.server.ts";
import { byteStream } from "../../process/byte-stream.server.ts";
import { storedJson } from "../../process/text/json.ts";
import type { ApiEnv, Person, Services } from "../env.server.ts";
import { noProgram, signedIn, withSecondStep } from "../http/authentication.server.ts";
import { answerInvalid, notFound } from "../http/problem.server.ts";
import { answerBytes } from "../http/ranges.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { answers, bearer, bytes, id, idParam } from "../http/schemas.server.ts";
import { job, showJob } from "../jobs/jobs.server.ts";
import { exportAccount, exportName } from "./export.server.ts";
import type { Prepared } from "./export-job.server.ts";

// In ms: most exports are ready within this time, and can be offered at once.
const patience = 3_000;

const zip = { "application/zip": { schema: bytes } };
const headersOf = (name: string) => ({
  "Content-Type": "application/zip",
  "Content-Disposition": `attachment; filename="${name}"`,
  "Cache-Control": "private, no-cache",
});

const downloadNowRoute = createRoute({
  method: "get",
  path: "/{id}/export",
  security: bearer,
  middleware: [signedIn, withSecondStep],
  request: { params: idParam },
  responses: {
    200: { content: zip, description: "Todo lo de la persona, en un ZIP que se hace mientras se descarga." },
  },
});
const downloadNow: RouteHandler<typeof downloadNowRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  refuseOthers(person, c.req.valid("param").id);
  await countAttempt(c, "export", person.id);
  const body = byteStream(exportAccount(services, person.id));
  return c.body(body, 200, headersOf(exportName()));
};

const listPreparedRoute = createRoute({
  method: "get",
  path: "/{id}/exports",
  security: bearer,
  middleware: [signedIn, withSecondStep],
  request: { params: idParam },
  responses: {
    200: answers(z.object({ items: z.array(job) }), "Lo que está preparado o se prepara, lo último primero."),
  },
});
// Apart from the other jobs: inactive people have a right to their data, too.
const listPrepared: RouteHandler<typeof listPreparedRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  refuseOthers(person, c.req.valid("param").id);
  const rows = await ownExports(services.db, person).orderBy("id", "desc").selectAll().execute();
  return c.json({ items: rows.map(showJob) }, 200);
};

const prepareRoute = createRoute({
  method: "post",
  path: "/{id}/export",
  security: bearer,
  // A new export replaces the export that a person has prepared, so no program may ask for it; a program downloads at once.
  middleware: [signedIn, noProgram, withSecondStep],
  request: { params: idParam },
  responses: {
    201: answers(job, "El ZIP está preparado y se puede descargar durante un día. Sustituye al anterior."),
    202: answers(job, "Todavía no lo está: su trabajo dice cómo va."),
  },
});
const prepare: RouteHandler<typeof prepareRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const { jobs } = services;
  refuseOthers(person, c.req.valid("param").id);
  let jobId = await findUnderway(services.db, person);
  if (!jobId) {
    await countAttempt(c, "export", person.id);
    jobId = await begin(services, person);
  }
  const ended = await jobs.ended(jobId, patience);
  // The export was replaced by a newer one meanwhile, or deleted with its account.
  if (!ended) throw notFound();
  return ended.state === "done" ? c.json(showJob(ended), 201) : c.json(showJob(ended), 202);
};

const downloadPreparedRoute = createRoute({
  method: "get",
  path: "/{id}/export/{exportId}",
  security: bearer,
  middleware: [signedIn, withSecondStep],
  request: {
    params: idParam.extend({ exportId: id.openapi({ param: { name: "exportId", in: "path" } }) }),
  },
  responses: {
    200: { content: zip, description: "El ZIP preparado; `exportId` es el de su trabajo." },
    206: { description: "Una parte, con `Range`." },
    416: { description: "El ZIP acaba antes de esa parte." },
  },
});
const downloadPrepared: RouteHandler<typeof downloadPreparedRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const { id: userId, exportId } = c.req.valid("param");
  refuseOthers(person, userId);
  const row = await ownExports(services.db, person)
    .where("id", "=", exportId)
    .where("state", "=", "done")
    .select("result")
    .executeTakeFirstOrThrow(notFound);
  const content = await services.storage.stream(exportId, "original");
  if (!content) throw notFound();
  const { name } = storedJson<Prepared>(row.result ?? "{}");
  // An attempt that was taken for dead may still end, and replace the bytes: then they have another size.
  const headers = { ...headersOf(name), ETag: `"${exportId}-${content.size}"` };
  return answerBytes(c, headers, () => content);
};

/** «Descargar mis datos»: at once, or prepared in the background so that a download that breaks off can go on. */
export const accountExports = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(downloadNowRoute, downloadNow)
  .openapi(listPreparedRoute, listPrepared)
  .openapi(prepareRoute, prepare)
  .openapi(downloadPreparedRoute, downloadPrepared);

/** Nobody exports another person's data, not even an administrator. */
function refuseOthers(person: Person, id: string): void {
  if (id !== person.id) throw notFound();
}

const ownExports = (db: Db, person: Person) =>
  db.selectFrom("jobs").where("kind", "=", "export").where("userId", "=", person.id);

async function findUnderway(db: Db, person: Person): Promise<string | undefined> {
  const underway = ownExports(db, person).where("state", "in", ["waiting", "running"]);
  return (await underway.select("id").executeTakeFirst())?.id;
}

/** Begins an export, unless another request has just begun one: each export takes as much room as all data of the person. */
async function begin({ db, engine, jobs }: Services, person: Person): Promise<string> {
  const id = await db.transaction().execute(async (trx) => {
    if (engine === "postgres") {
      await trx.selectFrom("users").where("id", "=", person.id).select("id").forUpdate().execute();
    }
    return (await findUnderway(trx, person)) ?? (await jobs.add({ kind: "export", userId: person.id }, trx));
  });
  jobs.wake("export");
  return id;
}
