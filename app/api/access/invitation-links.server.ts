import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { newRow } from "../../db/rows.server.ts";
import type { InvitationRow } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import { email, enter, newPassword, refuseCommon, refusePasswords } from "../auth/accounts.server.ts";
import { answerTokens, token } from "../auth/answer-tokens.server.ts";
import { hashPassword } from "../auth/passwords.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { parseGroupIds } from "../groups/group-ids.server.ts";
import { recordAudit } from "../http/audit.server.ts";
import { admin, findPerson, isAdmin, noProgram, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, invalid, notFound, Problem } from "../http/problem.server.ts";
import { countAttempt, networkOf } from "../http/rate-limit.server.ts";
import { answers, bearer, idParam, line, takes } from "../http/schemas.server.ts";
import { addressInUse } from "../users/account-admin.server.ts";
import { accountRow, storeAccount } from "../users/new-account.server.ts";
import { invitationOf, invitationPath } from "./invitations.server.ts";

const tokenParam = z.object({
  token: z
    .string()
    .max(200, "El enlace no es válido.")
    .openapi({ param: { name: "token", in: "path" } }),
});

const lookRoute = createRoute({
  method: "get",
  path: "/{token}",
  request: { params: tokenParam },
  responses: { 200: answers(z.object({ email: z.string().nullable() }), "La invitación aún vale.") },
});
const look: RouteHandler<typeof lookRoute, ApiEnv> = async (c) => {
  const { email: address } = await findOpen(c, c.req.valid("param").token);
  return c.json({ email: address }, 200);
};

const acceptRoute = createRoute({
  method: "post",
  path: "/{token}",
  request: {
    params: tokenParam,
    body: takes(
      z.strictObject({
        name: line("El nombre", limits.name, 1),
        email: email.optional().openapi({ description: "Si la invitación no dice ninguno." }),
        password: newPassword,
      }),
    ),
  },
  responses: { 201: token("El token de acceso; el de refresco va en una cookie.") },
});
const accept: RouteHandler<typeof acceptRoute, ApiEnv> = async (c) => {
  const { services } = c.var;
  await countAttempt(c, "signup", networkOf(c));
  refusePasswords(services);
  const invitation = await findOpen(c, c.req.valid("param").token);
  const given = c.req.valid("json");
  const address = invitation.email ?? given.email;
  if (!address) throw invalid("email", "Falta el correo electrónico.");
  await refuseCommon(given.password);
  const passwordHash = await hashPassword(given.password);
  const now = services.clock.now();
  const { role } = invitation;
  const row = accountRow({ name: given.name, email: address, passwordHash, role, status: "active" }, now, {
    entersNow: true,
  });
  const userId = row.id;
  await services.db.transaction().execute(async (trx) => {
    // When two people use the invitation at the same moment, one succeeds.
    const { numUpdatedRows } = await trx
      .updateTable("invitations")
      .set({ usedAt: now, updatedAt: now })
      .where("id", "=", invitation.id)
      .where("usedAt", "is", null)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw usedUp();
    if (!(await storeAccount(trx, row))) throw addressInUse();
    await trx.updateTable("invitations").set({ userId }).where("id", "=", invitation.id).execute();
    const groupIds = ["", ...(parseGroupIds(invitation) ?? [])];
    const groups = await trx.selectFrom("groups").where("id", "in", groupIds).select("id").execute();
    for (const { id: groupId } of groups) {
      const member = { ...newRow(now), groupId, userId, accessId: null };
      await trx
        .insertInto("members")
        .values(member)
        .onConflict((conflict) => conflict.columns(["userId", "groupId"]).doNothing())
        .execute();
    }
    const changes = { after: { invitation: invitation.id, role: invitation.role } };
    await recordAudit(trx, c, "signup", "user", userId, { actorId: userId, changes });
  });
  return answerTokens(c, await enter(c, userId), 201);
};

/** Routes for anybody who has an invitation's link. */
export const invitationLinks = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(lookRoute, look)
  .openapi(acceptRoute, accept);

const linkRoute = createRoute({
  method: "get",
  path: "/{id}/link",
  security: bearer,
  middleware: [signedIn, noProgram, admin],
  request: { params: idParam },
  responses: { 200: answers(z.object({ path: z.string() }), "La ruta del enlace de la invitación.") },
});

/** The link of an invitation, which an administrator hands on. */
export const invitationLinkOf = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(
  linkRoute,
  async (c) => {
    const { services } = c.var;
    const row = await services.db
      .selectFrom("invitations")
      .where("id", "=", c.req.valid("param").id)
      .select("id")
      .executeTakeFirstOrThrow(notFound);
    return c.json({ path: invitationPath(services, row) }, 200, { "Cache-Control": "no-store" });
  },
);

async function findOpen(c: Context<ApiEnv>, given: string): Promise<InvitationRow> {
  const { services } = c.var;
  const found = await invitationOf(services, given);
  if (!found || found.usedAt !== null || found.expiresAt <= services.clock.now()) throw usedUp();
  const inviter = await findPerson(services, found.inviterId ?? "");
  if (!isAdmin(inviter))
    throw new Problem(422, "Esta invitación ya no vale: quien la hizo ya no administra. Pide otra.");
  return found;
}

const usedUp = () => new Problem(422, "Esta invitación ya no vale: se usa una vez y dura siete días. Pide otra.");
