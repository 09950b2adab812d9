import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { ToolRefused } from "../../tools/tool.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { recordEvent } from "../http/audit.server.ts";
import { admin, noProgram, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, invalid } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { answers, bearer, idParam, takes } from "../http/schemas.server.ts";
import { showTool, tool } from "./tool-fields.server.ts";
import { findTool } from "./tools.server.ts";

const forAdmins = { security: bearer, middleware: [signedIn, noProgram, admin, publishes("tool")] };

const begin = z.strictObject({
  redirect: z.url({ protocol: /^https?$/, error: "La dirección de vuelta tiene que empezar por http:// o https://." }),
});
const begun = z.object({
  url: z.string().nullable().openapi({ description: "Adónde hay que ir; null: no hace falta iniciar sesión." }),
});
const end = z.strictObject({
  brought: z.string().max(4_000, "La dirección de vuelta es demasiado larga.").openapi({
    description: "La consulta de la dirección con la que se ha vuelto: code, state, iss.",
  }),
});

/** Actions on a server of tools: ask it again, and sign in there. */
export const toolServers = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(
    createRoute({
      method: "post",
      path: "/{id}/list",
      ...forAdmins,
      request: { params: idParam },
      responses: { 200: answers(tool, "La herramienta, con lo que su servidor ofrece ahora.") },
    }),
    async (c) => {
      const { person, services } = c.var;
      await countAttempt(c, "trial", person.id);
      const row = await findTool(services.db, c.req.valid("param").id);
      await refusal(services.toolbox.refresh(row));
      return c.json(showTool(services, await findTool(services.db, row.id), person), 200);
    },
  )
  .openapi(
    createRoute({
      method: "post",
      path: "/{id}/sign-in",
      ...forAdmins,
      request: { params: idParam, body: takes(begin) },
      responses: { 200: answers(begun, "Empieza un inicio de sesión en su servidor (OAuth).") },
    }),
    async (c) => {
      const { person, services } = c.var;
      await countAttempt(c, "trial", person.id);
      const row = await findTool(services.db, c.req.valid("param").id);
      const url = await refusal(services.toolbox.beginSignIn(row, c.req.valid("json").redirect));
      return c.json({ url: url?.href ?? null }, 200);
    },
  )
  .openapi(
    createRoute({
      method: "post",
      path: "/{id}/sign-in/end",
      ...forAdmins,
      request: { params: idParam, body: takes(end) },
      responses: { 200: answers(tool, "La herramienta, con la sesión iniciada en su servidor.") },
    }),
    async (c) => {
      const { person, services } = c.var;
      await countAttempt(c, "trial", person.id);
      const row = await findTool(services.db, c.req.valid("param").id);
      await refusal(services.toolbox.endSignIn(row, new URLSearchParams(c.req.valid("json").brought)));
      await recordEvent(c, "sign-in", "tool", row.id);
      const after = await findTool(services.db, row.id);
      await services.toolbox.refresh(after).catch((error) => {
        if (!(error instanceof ToolRefused)) throw error;
      });
      return c.json(showTool(services, await findTool(services.db, row.id), person), 200);
    },
  );

/** Turns a refusal of a server of tools into the refusal of the request. */
async function refusal<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof ToolRefused ? invalid("id", error.message) : error;
  }
}
