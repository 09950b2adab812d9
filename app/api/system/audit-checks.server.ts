import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { checkAudit } from "../../db/audit/check.server.ts";
import { sealAudit } from "../../db/audit/seal.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { admin, noProgram, signedIn } from "../http/authentication.server.ts";
import { answerInvalid } from "../http/problem.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { answers, bearer } from "../http/schemas.server.ts";

const shown = z
  .object({
    sealed: z.number().openapi({ description: "Los apuntes sellados que se han mirado." }),
    last: z
      .object({ seq: z.number(), hash: z.string() })
      .nullable()
      .openapi({ description: "El último, para anotarlo fuera de aquí." }),
    problems: z.array(z.string()).openapi({ description: "Lo que no está como se selló; vacía: nada." }),
  })
  .openapi("AuditCheck");

/** Goes through the chain of the audit trail. */
export const auditChecks = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(
  createRoute({
    method: "post",
    path: "/check",
    security: bearer,
    middleware: [signedIn, noProgram, admin],
    responses: { 200: answers(shown, "Cómo está la cadena de la auditoría.") },
  }),
  async (c) => {
    const { db, engine, auditKey } = c.var.services;
    await countAttempt(c, "trial", c.var.person.id);
    await sealAudit(db, engine, auditKey);
    const { sealed, last, problems } = await checkAudit(db, auditKey);
    return c.json({ sealed, last: last ?? null, problems }, 200);
  },
);
