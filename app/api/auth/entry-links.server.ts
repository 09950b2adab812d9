import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import { hashToken } from "../../process/crypto.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { answerInvalid, Problem } from "../http/problem.server.ts";
import { countAttempt, networkOf } from "../http/rate-limit.server.ts";
import { takes } from "../http/schemas.server.ts";
import { enter } from "./accounts.server.ts";
import { answerTokens, token } from "./answer-tokens.server.ts";

const useLinkRoute = createRoute({
  method: "post",
  path: "/",
  request: {
    body: takes(z.strictObject({ token: z.string("Falta el enlace.").max(100, "El enlace no es válido.") })),
  },
  responses: { 200: token("El token de acceso; el de refresco va en una cookie.") },
});
const useLink: RouteHandler<typeof useLinkRoute, ApiEnv> = async (c) => {
  await countAttempt(c, "signinAddress", networkOf(c));
  const { db, clock } = c.var.services;
  const used = await db
    .deleteFrom("passwordResets")
    .where("tokenHash", "=", hashToken(c.req.valid("json").token))
    .where("expiresAt", ">", clock.now())
    .where("opens", "=", 1)
    .returning("userId")
    .executeTakeFirst();
  if (!used) throw new Problem(422, "Este enlace ya no vale: se usa una vez y dura quince minutos.");
  return answerTokens(c, await enter(c, used.userId), 200);
};

/** A link that opens a session, made on the server (`commands/enter.ts`): a way to sign in that no provider can block. */
export const entryLinks = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(useLinkRoute, useLink);
