import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { v7 as newId } from "uuid";
import type { Db } from "../../db/engine.server.ts";
import { newRow } from "../../db/rows.server.ts";
import { storedJson } from "../../process/text/json.ts";
import type { ApiEnv } from "../env.server.ts";
import { admin, noProgram, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, notFound } from "../http/problem.server.ts";
import { answers, bearer, idParam, takes } from "../http/schemas.server.ts";

const linesAtMost = 10;
const check = z.object({ good: z.boolean(), text: z.string().max(500) });
const line = z.number().int().min(0).max(linesAtMost);
const mark = z.object({ line, at: z.number().openapi({ description: "En ms desde 1970, por el reloj de todos." }) });
const diagnosis = z
  .object({
    id: z.string(),
    checks: z.array(check),
    written: z.array(mark),
    received: z.array(mark),
    ended: z.array(mark),
  })
  .openapi("Diagnosis");
const kinds = z.enum(["written", "received", "ended"], "kind tiene que ser written, received o ended.");

const common = { security: bearer, middleware: [signedIn, noProgram, admin] };

async function show(db: Db, id: string): Promise<z.output<typeof diagnosis>> {
  const row = await db.selectFrom("diagnoses").where("id", "=", id).select("checks").executeTakeFirstOrThrow(notFound);
  const marks = await db
    .selectFrom("diagnosisMarks")
    .where("diagnosisId", "=", id)
    .orderBy("line")
    .select(["kind", "line", "createdAt"])
    .execute();
  const of = (kind: z.output<typeof kinds>) =>
    marks.filter((one) => one.kind === kind).map((one) => ({ line: one.line, at: one.createdAt }));
  const checks = storedJson<z.output<typeof check>[]>(row.checks);
  return { id, checks, written: of("written"), received: of("received"), ended: of("ended") };
}

/**
 * A diagnosis of the connection between this server and a browser. Its observations are stored, because several processes may answer the
 * page of the diagnosis and the pictures in its lines.
 */
export const diagnoses = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(
    createRoute({
      method: "post",
      path: "/",
      ...common,
      request: { body: takes(z.strictObject({ checks: z.array(check).max(20) })) },
      responses: { 201: answers(diagnosis, "Un diagnóstico que empieza, con lo que se sabe por las cabeceras.") },
    }),
    async (c) => {
      const { db, clock } = c.var.services;
      const now = clock.now();
      const id = newId();
      const checks = JSON.stringify(c.req.valid("json").checks);
      await db.insertInto("diagnoses").values({ id, createdAt: now, updatedAt: now, checks }).execute();
      return c.json(await show(db, id), 201);
    },
  )
  .openapi(
    createRoute({
      method: "get",
      path: "/{id}",
      ...common,
      request: { params: idParam },
      responses: { 200: answers(diagnosis, "Lo que ha visto hasta ahora.") },
    }),
    async (c) => c.json(await show(c.var.services.db, c.req.valid("param").id), 200),
  )
  .openapi(
    createRoute({
      method: "post",
      path: "/{id}/marks",
      ...common,
      request: { params: idParam, body: takes(z.strictObject({ kind: kinds, line })) },
      responses: { 204: { description: "Apuntado, si no lo estaba." } },
    }),
    async (c) => {
      const { db, clock } = c.var.services;
      const { id } = c.req.valid("param");
      await show(db, id);
      const now = clock.now();
      await db
        .insertInto("diagnosisMarks")
        .values({ ...newRow(now), diagnosisId: id, ...c.req.valid("json") })
        .onConflict((conflict) => conflict.columns(["diagnosisId", "kind", "line"]).doNothing())
        .execute();
      return c.body(null, 204);
    },
  );
