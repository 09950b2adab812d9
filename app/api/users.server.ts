import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { isTaken } from "../db/errors.server.ts";
import type { UserRow } from "../db/tables.ts";
import { limits } from "../limits.ts";
import { deleteAccount } from "./account-end.server.ts";
import { confirmPassword, email, newPassword, refuseCommon } from "./accounts.server.ts";
import { countAttempt } from "./attempts.server.ts";
import { recordAudit } from "./audit.server.ts";
import { signedIn } from "./authentication.server.ts";
import type { ApiEnv, Services } from "./env.server.ts";
import { exportAccount } from "./export.server.ts";
import { hashPassword } from "./passwords.server.ts";
import { answerInvalid, notFound, Problem } from "./problem.server.ts";
import { answers, bearer, draft, idParam, line, takes } from "./schemas.server.ts";
import { showUser, user } from "./user-fields.server.ts";

const currentPassword = z.string("Falta la contraseña actual.").max(1000, "La contraseña es demasiado larga.");
const userChange = z.strictObject({
  name: line("El nombre", limits.name, 1).optional(),
  email: email.optional(),
  password: newPassword.optional(),
  currentPassword: currentPassword.optional().openapi({ description: "Para cambiar el correo o la contraseña." }),
  draft: draft.optional(),
});
const common = { path: "/{id}" as const, security: bearer, middleware: [signedIn] };

export const users = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(
    createRoute({
      method: "patch",
      ...common,
      request: { params: idParam, body: takes(userChange) },
      responses: { 200: answers(user, "La cuenta, cambiada.") },
    }),
    async (c) => {
      const { person, services } = c.var;
      const { db } = services;
      const { id } = c.req.valid("param");
      if (id !== person.id) throw notFound();
      const { currentPassword: confirmation, password, draft: unsent, ...given } = c.req.valid("json");
      const before = await db.selectFrom("users").where("id", "=", id).selectAll().executeTakeFirst();
      if (!before) throw notFound();
      const newAddress = given.email !== undefined && given.email !== before.email;
      if (newAddress || password !== undefined) await confirmPassword(c, confirmation);
      if (password !== undefined) await refuseCommon(password);
      const passwordHash = password === undefined ? undefined : await hashPassword(password);
      const change = db.transaction().execute(async (trx) => {
        const changed = await trx
          .updateTable("users")
          .set({
            ...given,
            ...(newAddress && { emailKey: given.email?.toLowerCase() }),
            ...(passwordHash && { passwordHash }),
            ...(unsent !== undefined && { draft: unsent && JSON.stringify(unsent) }),
            ...((given.name !== undefined || newAddress || passwordHash) && { updatedAt: Date.now() }),
          })
          .where("id", "=", id)
          .returningAll()
          .executeTakeFirst();
        if (!changed) throw notFound();
        const action = passwordHash ? "password" : newAddress ? "email" : undefined;
        if (action) {
          // Whoever had the old password or mailbox must not come back with what was asked for before.
          await trx.deleteFrom("sessions").where("userId", "=", id).where("id", "!=", person.sessionId).execute();
          await trx.deleteFrom("passwordResets").where("userId", "=", id).execute();
        }
        if (action) await recordAudit(trx, c, { actorId: id, action, resource: "user", resourceId: id });
        return changed;
      });
      const after = await change.catch((error) => {
        throw isTaken(error) ? addressTaken() : error;
      });
      if (newAddress) tellOldAddress(services, before, after.email);
      return c.json(showUser(after), 200);
    },
  )
  .openapi(
    createRoute({
      method: "delete",
      ...common,
      request: { params: idParam, body: takes(z.strictObject({ currentPassword })) },
      responses: { 204: { description: "La cuenta y todo lo suyo ya no existen." } },
    }),
    async (c) => {
      if (c.req.valid("param").id !== c.var.person.id) throw notFound();
      await confirmPassword(c, c.req.valid("json").currentPassword);
      await deleteAccount(c);
      return c.body(null, 204);
    },
  )
  .openapi(
    createRoute({
      method: "get",
      path: "/{id}/export",
      security: bearer,
      middleware: [signedIn],
      request: { params: idParam },
      responses: {
        200: {
          content: { "application/zip": { schema: z.string() } },
          description: "Todo lo de la persona, en un ZIP.",
        },
      },
    }),
    async (c) => {
      if (c.req.valid("param").id !== c.var.person.id) throw notFound();
      await countAttempt(c.var.services, "export", c.var.person.id);
      return exportAccount(c) as never;
    },
  );

/** Whoever loses an account to somebody else learns it where they still can read it. */
function tellOldAddress({ mail }: Services, before: UserRow, email: string): void {
  mail.post({
    to: before.email,
    subject: "El correo de tu cuenta de Tertulia ha cambiado",
    text: `Hola:\n\nDesde ahora tu cuenta usa la dirección ${email}. Si no has sido tú, escribe a quien administra la instalación.\n`,
  });
}

const addressTaken = () =>
  new Problem(409, "Ese correo ya lo usa otra cuenta.", { errors: { email: "Ese correo ya lo usa otra cuenta." } });
