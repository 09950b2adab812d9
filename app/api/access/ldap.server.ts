import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import { answerTokens, token } from "../auth/answer-tokens.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { recordEvent } from "../http/audit.server.ts";
import { answerInvalid, Problem } from "../http/problem.server.ts";
import { countAttempt, forgetAttempts, networkOf } from "../http/rate-limit.server.ts";
import { answers, id, line, takes } from "../http/schemas.server.ts";
import { askDirectory, RefusesUs, ShutOut, WrongCredentials } from "./directory.server.ts";
import { enter } from "./enter.server.ts";
import { findAccess, joining } from "./oidc.server.ts";

const enterRoute = createRoute({
  method: "post",
  path: "/{id}",
  request: {
    params: z.object({ id: id.openapi({ param: { name: "id", in: "path" } }) }),
    body: takes(
      z.strictObject({
        username: line("El usuario", 254, 1),
        // A directory takes a bind with an empty password as anonymous and accepts it (RFC 4513, §5.1.2).
        password: z.string("Falta la contraseña.").min(1, "Falta la contraseña.").max(1000, "Es demasiado larga."),
      }),
    ),
  },
  responses: {
    200: token("El token de acceso; el de refresco va en una cookie."),
    202: answers(joining, "Falta probar que la cuenta con ese correo es de la misma persona."),
  },
});
const enterHere: RouteHandler<typeof enterRoute, ApiEnv> = async (c) => {
  const { services } = c.var;
  const { username, password } = c.req.valid("json");
  const access = await findAccess(services.db, c.req.valid("param").id, "ldap");
  await countAttempt(c, "signinAddress", networkOf(c));
  const everywhere = `${access.id} ${username.toLowerCase()}`;
  const here = `${networkOf(c)} ${everywhere}`;
  await countAttempt(c, "signinAccount", here);
  await countAttempt(c, "signinEverywhere", everywhere);
  const facts = await askDirectory(access, services.accessKey, { username, password }).catch(async (error: unknown) => {
    if (error instanceof WrongCredentials || error instanceof ShutOut) {
      await recordEvent(c, "signin-failed", "access", access.id, { actorId: null });
      throw new Problem(401, error.message || "El usuario o la contraseña no son correctos.");
    }
    services.log.warn({ err: error, access: access.name }, "un directorio no contesta como debe");
    if (error instanceof RefusesUs) {
      throw new Problem(502, `«${access.name}» no acepta a esta instalación. Avisa a quien administra.`);
    }
    throw new Problem(504, `«${access.name}» no contesta ahora mismo. Vuelve a intentarlo en un momento.`);
  });
  await forgetAttempts(services, "signinAccount", here);
  const entered = await enter(c, access, facts);
  return "ticket" in entered ? c.json(entered, 202, { "Cache-Control": "no-store" }) : answerTokens(c, entered, 200);
};

/** Sign-in through an LDAP directory, which checks the password and gives the person's groups. */
export const ldapEntries = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(enterRoute, enterHere);
