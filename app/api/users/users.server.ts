import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import { revokeAccess, revokeSessions } from "../../db/people/revoke-access.server.ts";
import type { UserRow } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import { confirmPassword, emailAsGiven, newPassword, refuseAddress, refuseCommon } from "../auth/accounts.server.ts";
import { hashPassword } from "../auth/passwords.server.ts";
import type { ApiEnv, Services } from "../env.server.ts";
import { recordAudit } from "../http/audit.server.ts";
import { admin, isAdmin, noProgram, signedIn, withSecondStep } from "../http/authentication.server.ts";
import { contains, listPage } from "../http/list.server.ts";
import { answerInvalid, invalid, notFound, Problem } from "../http/problem.server.ts";
import { mayEndSessions, publishes } from "../http/publish-change.server.ts";
import { changeRoute, creationRoute, itemRoute, listRoute } from "../http/resource-routes.server.ts";
import { answers, bearer, draft, idParam, line } from "../http/schemas.server.ts";
import { refuseStale } from "../http/stored-rows.server.ts";
import { addressTaken, adminFields, changeAccount, createAccount, newAccount } from "./account-admin.server.ts";
import { deleteAccount } from "./account-end.server.ts";
import { planUse, planUseOf } from "./plan-use.server.ts";
import { showUser, user } from "./user-fields.server.ts";

const currentPassword = z.string("Falta la contraseña actual.").max(1000, "La contraseña es demasiado larga.");
const userChange = z.strictObject({
  name: line("El nombre", limits.name, 1).optional(),
  email: emailAsGiven.optional(),
  password: newPassword.optional(),
  currentPassword: currentPassword.optional().openapi({ description: "Para cambiar el correo o la contraseña." }),
  draft: draft.optional(),
  ...adminFields,
});
// Deactivated, demoted and deleted accounts and those with a new password or address may lose sessions.
const endsTheirs = mayEndSessions((c) => c.req.param("id") ?? "");
const changes = { security: bearer, middleware: [signedIn, noProgram, withSecondStep, publishes("user"), endsTheirs] };

const changeUserRoute = changeRoute("patch", changes, userChange, user, "La cuenta, cambiada.");
const changeUser: RouteHandler<typeof changeUserRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const { db } = services;
  const { id } = c.req.valid("param");
  const { currentPassword: confirmation, password, draft: unsent, role, status, ...given } = c.req.valid("json");
  if (isAdmin(person) && (id !== person.id || role || status)) {
    // Admins change their own password and address below, where the current password is required.
    const own = id === person.id && { password: undefined, email: undefined };
    return c.json(
      showUser(await changeAccount(c, id, clean({ ...given, password, role, status, ...own })), person),
      200,
    );
  }
  if (id !== person.id) throw notFound();
  if (role || status) throw invalid(role ? "role" : "status", "Eso solo lo cambia quien administra.");
  const before = await db.selectFrom("users").where("id", "=", id).selectAll().executeTakeFirstOrThrow(notFound);
  refuseStale(c, before, showUser(before, person));
  refuseAddress(given.email, before.email);
  const newAddress = given.email !== undefined && given.email !== before.email;
  // A person who took another person's address would get the access that the proxy gives the other person.
  if (newAddress && services.config.authProxy) {
    throw new Problem(403, "Aquí se entra con el correo que dice la organización: no se cambia en la cuenta.");
  }
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
      .executeTakeFirstOrThrow(notFound);
    const action = passwordHash ? "password" : newAddress ? "email" : undefined;
    if (action) {
      // Whoever had the old password or mailbox must not get back in.
      await revokeAccess(trx, id, { except: person.sessionId });
      await recordAudit(trx, c, action, "user", id, { actorId: id });
    }
    return changed;
  });
  const after = await change.catch(addressTaken);
  if (newAddress) tellOldAddress(services, before, after.email);
  return c.json(showUser(after, person), 200);
};

const deleteUserRoute = createRoute({
  method: "delete",
  path: "/{id}",
  ...changes,
  request: {
    params: idParam,
    body: {
      content: { "application/json": { schema: z.strictObject({ currentPassword }) } },
      description: "La contraseña, para eliminar la cuenta propia.",
    },
  },
  responses: { 204: { description: "La cuenta y todo lo suyo ya no existen." } },
});
const deleteUser: RouteHandler<typeof deleteUserRoute, ApiEnv> = async (c) => {
  const { id } = c.req.valid("param");
  const own = id === c.var.person.id;
  if (!own && !isAdmin(c.var.person)) throw notFound();
  if (own) await confirmPassword(c, c.req.valid("json")?.currentPassword);
  await deleteAccount(c, id);
  return c.body(null, 204);
};

const endSessionsRoute = createRoute({
  method: "delete",
  path: "/{id}/sessions",
  security: bearer,
  middleware: [signedIn, noProgram, admin, publishes("user"), endsTheirs],
  request: { params: idParam },
  responses: { 204: { description: "Sus sesiones están cerradas." } },
});
const endSessions: RouteHandler<typeof endSessionsRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const { id } = c.req.valid("param");
  await findUser(services, id);
  await services.db.transaction().execute(async (trx) => {
    // Admins who close their own other sessions keep their API keys.
    if (id !== person.id) await revokeAccess(trx, id);
    else await revokeSessions(trx, id, person.sessionId);
    await recordAudit(trx, c, "signout", "user", id);
  });
  return c.body(null, 204);
};

const showPlanUseRoute = createRoute({
  method: "get",
  path: "/{id}/use",
  security: bearer,
  middleware: [signedIn, admin],
  request: { params: idParam },
  responses: { 200: answers(planUse.openapi("PlanUse"), "Su plan y lo que ha usado de él.") },
});
const showPlanUse: RouteHandler<typeof showPlanUseRoute, ApiEnv> = async (c) => {
  const { services } = c.var;
  const account = await findUser(services, c.req.valid("param").id);
  return c.json(await planUseOf(services.db, account), 200);
};

const forAdmins = { security: bearer, middleware: [signedIn, admin] };
const listUsersRoute = listRoute(forAdmins, user, "Las cuentas, para quien administra.");
const listUsers: RouteHandler<typeof listUsersRoute, ApiEnv> = async (c) => {
  const query = c.req.valid("query");
  const { q = "" } = query;
  const all = c.var.services.db
    .selectFrom("users")
    .selectAll("users")
    .$if(q !== "", (rows) => rows.where((e) => e.or([contains("users.name", q), contains("users.email", q)])));
  const { rows, ...rest } = await listPage(c.var.services.db, all, query, {
    table: "users",
    sortable: [
      { number: "createdAt", direction: "desc" },
      { text: "name", direction: "asc" },
      { text: "emailKey", direction: "asc" },
      { text: "role", direction: "asc" },
      { text: "status", direction: "asc" },
      { number: "lastSeenAt", direction: "desc", mayBeEmpty: true },
    ],
    filters: { role: "text", status: "text" },
  });
  return c.json({ items: rows.map((row) => showUser(row, c.var.person)), ...rest }, 200);
};

const creates = { security: bearer, middleware: [signedIn, noProgram, admin, publishes("user")] };
const createUserRoute = creationRoute(creates, newAccount, user, "La cuenta nueva.");
const createUser: RouteHandler<typeof createUserRoute, ApiEnv> = async (c) =>
  c.json(showUser(await createAccount(c, c.req.valid("json")), c.var.person), 201);

const showAccountRoute = itemRoute(
  { security: bearer, middleware: [signedIn] },
  user,
  "Una cuenta: la propia o, para quien administra, cualquiera.",
);
const showAccount: RouteHandler<typeof showAccountRoute, ApiEnv> = async (c) => {
  const { id } = c.req.valid("param");
  if (id !== c.var.person.id && !isAdmin(c.var.person)) throw notFound();
  return c.json(showUser(await findUser(c.var.services, id), c.var.person), 200);
};

export const users = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(changeUserRoute, changeUser)
  .openapi(deleteUserRoute, deleteUser)
  .openapi(endSessionsRoute, endSessions)
  .openapi(showPlanUseRoute, showPlanUse)
  .openapi(listUsersRoute, listUsers)
  .openapi(createUserRoute, createUser)
  .openapi(showAccountRoute, showAccount);

/** Notifies the old address, so that the owner learns of a takeover. */
function tellOldAddress({ mail }: Services, before: UserRow, email: string): void {
  mail.post({
    to: before.email,
    subject: "El correo de tu cuenta ha cambiado",
    text: `Hola:\n\nDesde ahora tu cuenta usa la dirección ${email}. Si no has sido tú, escribe a quien administra la instalación.\n`,
  });
}

async function findUser({ db }: Services, id: string): Promise<UserRow> {
  return db.selectFrom("users").where("id", "=", id).selectAll().executeTakeFirstOrThrow(notFound);
}

/** Drops undefined properties, which would otherwise be written as NULL. */
const clean = <Given extends object>(given: Given) =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Given]?: Exclude<Given[Name], undefined>;
  };
