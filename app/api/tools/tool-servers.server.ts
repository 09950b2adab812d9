import { createRoute, OpenAPIHono } from "@hono/zod-openapi";
import { isPersonal, throughAccount } from "../../tools/accounts.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { recordEvent } from "../http/audit.server.ts";
import { admin, noProgram, signedIn } from "../http/authentication.server.ts";
import { answerInvalid } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { answers, bearer, idParam, takes } from "../http/schemas.server.ts";
import { showTool, tool } from "./tool-fields.server.ts";
import { refusal, signInEnd, signInRequest, signInStart, unlessRefused } from "./tool-sign-ins.server.ts";
import { findTool } from "./tools.server.ts";

const forAdmins = { security: bearer, middleware: [signedIn, noProgram, admin, publishes("tool")] };

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
      const reached = isPersonal(row) ? await throughAccount(services.db, person.id, row) : row;
      await refusal(services.toolbox.refresh(reached));
      return c.json(showTool(services, await findTool(services.db, row.id), person), 200);
    },
  )
  .openapi(
    createRoute({
      method: "post",
      path: "/{id}/sign-in",
      ...forAdmins,
      request: { params: idParam, body: takes(signInRequest) },
      responses: { 200: answers(signInStart, "Empieza un inicio de sesión en su servidor (OAuth).") },
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
      request: { params: idParam, body: takes(signInEnd) },
      responses: { 200: answers(tool, "La herramienta, con la sesión iniciada en su servidor.") },
    }),
    async (c) => {
      const { person, services } = c.var;
      await countAttempt(c, "trial", person.id);
      const row = await findTool(services.db, c.req.valid("param").id);
      await refusal(services.toolbox.endSignIn(row, new URLSearchParams(c.req.valid("json").brought)));
      await recordEvent(c, "sign-in", "tool", row.id);
      const after = await findTool(services.db, row.id);
      await services.toolbox.refresh(after).catch(unlessRefused);
      return c.json(showTool(services, await findTool(services.db, row.id), person), 200);
    },
  );
