import { randomBytes } from "node:crypto";
import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import { v7 as newId } from "uuid";
import { revokeAccess } from "../../db/people/revoke-access.server.ts";
import { hashToken } from "../../process/crypto.server.ts";
import type { ApiEnv, Services } from "../env.server.ts";
import { recordAudit } from "../http/audit.server.ts";
import { answerInvalid, Problem } from "../http/problem.server.ts";
import { mayEndSessions } from "../http/publish-change.server.ts";
import { countAttempt, mayTry, networkOf } from "../http/rate-limit.server.ts";
import { takes } from "../http/schemas.server.ts";
import { email, newPassword, refuseCommon } from "./accounts.server.ts";
import { hashPassword } from "./passwords.server.ts";

const lives = 60 * 60_000;
// Delay in ms after the response, so that the response time does not tell which addresses exist.
const afterAnswer = 100;

/** Available only with PUBLIC_URL: the links need an address that no request can forge. */
export const canReset = ({ mail, config }: Services) =>
  mail.available && config.publicUrl !== undefined && config.passwordSignin;

const tokenParam = z.object({
  token: z
    .string()
    .max(100, "El enlace no es válido.")
    .openapi({ param: { name: "token", in: "path" } }),
});
const oldLink = () => new Problem(422, "Este enlace ya no vale: se usa una vez y dura una hora. Pide otro.");

const askForLinkRoute = createRoute({
  method: "post",
  path: "/",
  request: { body: takes(z.strictObject({ email })) },
  responses: { 202: { description: "Si hay una cuenta con ese correo, recibirá un enlace." } },
});
const askForLink: RouteHandler<typeof askForLinkRoute, ApiEnv> = async (c) => {
  const { services } = c.var;
  if (!canReset(services)) {
    throw new Problem(503, "Esta instalación no envía correos. Pide una contraseña nueva a quien la administra.");
  }
  const given = c.req.valid("json");
  await countAttempt(c, "reset", networkOf(c));
  // Silently ignored over the limit: the response must not tell which addresses exist, and no mailbox is flooded.
  if (!(await mayTry(services, "resetAccount", given.email.toLowerCase()))) return c.body(null, 202);
  const account = await services.db
    .selectFrom("users")
    .where("emailKey", "=", given.email.toLowerCase())
    .select(["id", "email"])
    .executeTakeFirst();
  const failed = (error: Error) =>
    services.log.error({ err: error }, "no se pudo preparar un enlace para cambiar la contraseña");
  if (account) setTimeout(() => sendLink(services, account).catch(failed), afterAnswer);
  return c.body(null, 202);
};

const checkLinkRoute = createRoute({
  method: "get",
  path: "/{token}",
  request: { params: tokenParam },
  responses: { 204: { description: "El enlace aún vale." } },
});
const checkLink: RouteHandler<typeof checkLinkRoute, ApiEnv> = async (c) => {
  await findReset(c.var.services, c.req.valid("param").token);
  return c.body(null, 204);
};

const resetPasswordRoute = createRoute({
  method: "put",
  path: "/{token}",
  // Nobody is signed in, so the sockets of all people check their sessions.
  middleware: [mayEndSessions(() => "")],
  request: {
    params: tokenParam,
    body: takes(z.strictObject({ password: newPassword })),
  },
  responses: { 204: { description: "La contraseña es la nueva; las sesiones abiertas han terminado." } },
});
const resetPassword: RouteHandler<typeof resetPasswordRoute, ApiEnv> = async (c) => {
  const { db, clock } = c.var.services;
  const { password } = c.req.valid("json");
  const reset = await findReset(c.var.services, c.req.valid("param").token);
  await refuseCommon(password);
  const passwordHash = await hashPassword(password);
  await db.transaction().execute(async (trx) => {
    // When two requests come with the same link at once, one succeeds.
    const { numDeletedRows } = await trx.deleteFrom("passwordResets").where("id", "=", reset.id).executeTakeFirst();
    if (numDeletedRows === 0n) throw oldLink();
    await trx
      .updateTable("users")
      .set({ passwordHash, updatedAt: clock.now() })
      .where("id", "=", reset.userId)
      .execute();
    // Whoever had the old password may have created keys or other ways back in.
    await revokeAccess(trx, reset.userId);
    await recordAudit(trx, c, "password-reset", "user", reset.userId, { actorId: reset.userId });
  });
  return c.body(null, 204);
};

export const passwordResets = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(askForLinkRoute, askForLink)
  .openapi(checkLinkRoute, checkLink)
  .openapi(resetPasswordRoute, resetPassword);

/** The reset that a link stands for. Throws 422 if it was used, replaced or has expired. */
async function findReset({ db, clock }: Services, token: string): Promise<{ id: string; userId: string }> {
  const reset = await db
    .selectFrom("passwordResets")
    .where("tokenHash", "=", hashToken(token))
    .where("expiresAt", ">", clock.now())
    .where("opens", "=", 0)
    .select(["id", "userId"])
    .executeTakeFirst();
  if (!reset) throw oldLink();
  return reset;
}

async function sendLink({ db, clock, mail, config }: Services, account: { id: string; email: string }) {
  const token = randomBytes(32).toString("base64url");
  const now = clock.now();
  const row = { tokenHash: hashToken(token), expiresAt: now + lives, updatedAt: now, opens: 0 as const };
  await db
    .insertInto("passwordResets")
    .values({ id: newId(), createdAt: now, userId: account.id, ...row })
    .onConflict((conflict) => conflict.column("userId").doUpdateSet(row))
    .execute();
  const text = `Hola:

Alguien, seguramente tú, ha pedido cambiar la contraseña de tu cuenta. Este enlace vale una hora y se usa una vez:

${config.publicUrl}/auth/reset/${token}

Si no has sido tú, no hace falta que hagas nada: la contraseña sigue siendo la misma.
`;
  const subject = "Una contraseña nueva";
  mail.post({ to: account.email, subject, text }, { goodUntil: row.expiresAt });
}
