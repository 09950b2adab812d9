import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import { readHouse } from "../../db/house.server.ts";
import { revokeAccess } from "../../db/people/revoke-access.server.ts";
import { newRow } from "../../db/rows.server.ts";
import { sameSecret } from "../../process/crypto.server.ts";
import { textsIn } from "../../process/text/json.ts";
import type { ApiEnv } from "../env.server.ts";
import { recordAudit } from "../http/audit.server.ts";
import { noProgram, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, invalid, Problem } from "../http/problem.server.ts";
import { mayEndSessions } from "../http/publish-change.server.ts";
import { answers, bearer, takes } from "../http/schemas.server.ts";
import { confirmPassword, refuseOwnedPasskey } from "./accounts.server.ts";
import {
  addressOf,
  code,
  hasAuthenticator,
  makeRecoveryCodes,
  pendingSecrets,
  sealSecret,
  stepOf,
} from "./authenticator-codes.server.ts";

const common = {
  path: "/" as const,
  security: bearer,
  middleware: [signedIn, noProgram, mayEndSessions((c) => c.var.person.id)],
};
const state = z.object({ enabled: z.boolean(), recoveryCodesLeft: z.number() }).openapi("Authenticator");

const currentPassword = z.string("Falta la contraseña.").max(1000, "La contraseña es demasiado larga.");

const showStateRoute = createRoute({
  method: "get",
  ...common,
  responses: { 200: answers(state, "Si la cuenta pide un código al entrar.") },
});
const showState: RouteHandler<typeof showStateRoute, ApiEnv> = async (c) => {
  const row = await c.var.services.db
    .selectFrom("authenticators")
    .where("userId", "=", c.var.person.id)
    .select(["confirmedAt", "recoveryCodes"])
    .executeTakeFirst();
  const enabled = Boolean(row?.confirmedAt);
  const left = enabled ? textsIn(row?.recoveryCodes ?? "[]").length : 0;
  return c.json({ enabled, recoveryCodesLeft: left }, 200);
};

const beginSetUpRoute = createRoute({
  method: "post",
  ...common,
  responses: {
    201: answers(
      z.object({ secret: z.string(), uri: z.string() }),
      "El secreto para la aplicación; hasta el primer código correcto no cambia nada.",
    ),
  },
});
const beginSetUp: RouteHandler<typeof beginSetUpRoute, ApiEnv> = async (c) => {
  const { services, person } = c.var;
  const { db, clock, authenticatorKey } = services;
  const { email } = await db.selectFrom("users").where("id", "=", person.id).select("email").executeTakeFirstOrThrow();
  if (await hasAuthenticator(db, person.id)) throw new Problem(409, "La verificación en dos pasos ya está activada.");
  const secret = pendingSecrets(authenticatorKey, person, clock.now()).current;
  const { name } = await readHouse(db);
  return c.json({ secret, uri: addressOf(secret, email, name) }, 201);
};

const finishSetUpRoute = createRoute({
  method: "put",
  ...common,
  request: {
    body: takes(
      z.strictObject({
        code,
        secret: z.string("Falta el secreto.").max(64, "El secreto no es válido."),
        currentPassword,
      }),
    ),
  },
  responses: {
    200: answers(z.object({ recoveryCodes: z.array(z.string()) }), "Activada; estos códigos no se vuelven a mostrar."),
  },
});
const finishSetUp: RouteHandler<typeof finishSetUpRoute, ApiEnv> = async (c) => {
  const { services, person } = c.var;
  const { db, clock, authenticatorKey } = services;
  const given = c.req.valid("json");
  if (await hasAuthenticator(db, person.id)) throw new Problem(409, "La verificación en dos pasos ya está activada.");
  const now = clock.now();
  const { current, before } = pendingSecrets(authenticatorKey, person, now);
  const secret = [current, before].find((one) => sameSecret(one, given.secret));
  if (!secret) throw new Problem(409, "Este código QR ya no vale. Empieza otra vez.");
  const step = stepOf(secret, given.code, now);
  if (step === undefined) {
    throw invalid("code", "El código no es correcto. Comprueba la hora del teléfono y escribe el que muestra ahora.");
  }
  await refuseOwnedPasskey(c);
  await confirmPassword(c, given.currentPassword);
  const { codes, hashes } = makeRecoveryCodes(authenticatorKey);
  const row = {
    ...newRow(now),
    userId: person.id,
    secret: sealSecret(authenticatorKey, person.id, secret),
    confirmedAt: now,
    lastStep: step,
    recoveryCodes: JSON.stringify(hashes),
  };
  // When two confirmations come at once, the first one wins. A row that an older version left unconfirmed is replaced.
  await db.transaction().execute(async (trx) => {
    const { numInsertedOrUpdatedRows } = await trx
      .insertInto("authenticators")
      .values(row)
      .onConflict((conflict) =>
        conflict.column("userId").doUpdateSet(row).where("authenticators.confirmedAt", "is", null),
      )
      .executeTakeFirst();
    if (numInsertedOrUpdatedRows === 0n) throw new Problem(409, "La verificación en dos pasos ya está activada.");
    // Whoever got in without a code is signed out, API keys included.
    await revokeAccess(trx, person.id, { except: person.sessionId });
    await recordAudit(trx, c, "create", "authenticator", row.id);
  });
  return c.json({ recoveryCodes: codes }, 200);
};

const removeAuthenticatorRoute = createRoute({
  method: "delete",
  ...common,
  request: {
    body: takes(z.strictObject({ currentPassword })),
  },
  responses: { 204: { description: "Ya no se pide un código al entrar." } },
});
const removeAuthenticator: RouteHandler<typeof removeAuthenticatorRoute, ApiEnv> = async (c) => {
  const { db } = c.var.services;
  const { id } = c.var.person;
  await confirmPassword(c, c.req.valid("json").currentPassword);
  await db.transaction().execute(async (trx) => {
    await trx.deleteFrom("authenticators").where("userId", "=", id).execute();
    await recordAudit(trx, c, "delete", "authenticator", null, { actorId: id });
  });
  return c.body(null, 204);
};

/** Two-step sign-in with an authenticator app (TOTP, RFC 6238): the person's own, if they want it. */
export const authenticator = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(showStateRoute, showState)
  .openapi(beginSetUpRoute, beginSetUp)
  .openapi(finishSetUpRoute, finishSetUp)
  .openapi(removeAuthenticatorRoute, removeAuthenticator);
