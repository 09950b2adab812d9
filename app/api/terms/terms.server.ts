import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { Db } from "../../db/engine.server.ts";
import { newRow } from "../../db/rows.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { recordAudit } from "../http/audit.server.ts";
import { noProgram, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, Problem } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { answers, bearer, takes } from "../http/schemas.server.ts";

const shown = z
  .object({
    version: z
      .number()
      .nullable()
      .openapi({ description: "Va con la aceptación: la ata a justo este texto; null: nada." }),
    owed: z.boolean().openapi({ description: "Si falta aceptarlo." }),
    pages: z.array(z.object({ slug: z.string(), title: z.string(), body: z.string() })),
  })
  .openapi("Terms");

/** The pages that everybody has to accept before they go on, and their acceptance. */
export const terms = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(
    createRoute({
      method: "get",
      path: "/",
      security: bearer,
      middleware: [signedIn, noProgram],
      responses: { 200: answers(shown, "Lo que hay que aceptar.") },
    }),
    async (c) => c.json({ ...(await termsOf(c.var.services.db)), owed: c.var.person.owesTerms }, 200),
  )
  .openapi(
    createRoute({
      method: "post",
      path: "/",
      security: bearer,
      middleware: [signedIn, noProgram, publishes("user")],
      request: { body: takes(z.strictObject({ version: z.number("Falta la versión que se acepta.") })) },
      responses: { 204: { description: "Aceptado." } },
    }),
    async (c) => {
      const { person, services } = c.var;
      const { version, pages } = await termsOf(services.db);
      if (version !== null && c.req.valid("json").version !== version) {
        throw new Problem(409, "El texto ha cambiado mientras lo leías. Léelo otra vez.");
      }
      if (version === null) return c.body(null, 204);
      const now = Date.now();
      await services.db.transaction().execute(async (trx) => {
        await trx
          .insertInto("acceptances")
          .values({ ...newRow(now), userId: person.id, textAt: version })
          .onConflict((conflict) => conflict.column("userId").doUpdateSet({ textAt: version, updatedAt: now }))
          .execute();
        const after = { version: new Date(version).toISOString(), pages: pages.map(({ title }) => title).join(", ") };
        await recordAudit(trx, c, "accept", "page", null, { changes: { after } });
      });
      return c.body(null, 204);
    },
  );

async function termsOf(db: Db) {
  const rows = await db
    .selectFrom("pages")
    .where("mustAccept", "=", 1)
    .where("published", "=", 1)
    .orderBy("position")
    .select(["slug", "title", "body", "textAt"])
    .execute();
  const version = rows.length > 0 ? Math.max(...rows.map(({ textAt }) => Number(textAt))) : null;
  return { version, pages: rows.map(({ slug, title, body }) => ({ slug, title, body })) };
}
