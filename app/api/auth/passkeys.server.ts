import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { RegistrationResponseJSON } from "@simplewebauthn/server";
import { isTaken } from "../../db/errors.server.ts";
import { readHouse } from "../../db/house.server.ts";
import { newRow } from "../../db/rows.server.ts";
import { limits } from "../../process/limits.ts";
import type { ApiEnv } from "../env.server.ts";
import { recordAudit } from "../http/audit.server.ts";
import { noProgram, signedIn, withSecondStep } from "../http/authentication.server.ts";
import { answerInvalid, invalid, notFound } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { answers, bearer, idParam, iso, isoOrNull, line, takes } from "../http/schemas.server.ts";
import { confirmPassword, refuseOwnedPasskey, refusePasswords } from "./accounts.server.ts";
import { makeChallenge, openTicket, pageOrigin, siteOf, ticket } from "./passkey-challenges.server.ts";

const most = 20;
const passkey = z
  .object({ id: z.string(), name: z.string(), createdAt: z.string(), lastUsedAt: z.string().nullable() })
  .openapi("Passkey");
export const challenged = z
  .object({
    ticket: z.string(),
    options: z.looseObject({ challenge: z.string() }).openapi({ description: "Para el navegador (WebAuthn)." }),
  })
  .openapi("PasskeyChallenge");
/** A browser's signature; the library that verifies it also checks its form. */
export const browserAnswer = z.looseObject({ id: z.string().max(2_000) }, "Falta lo que ha firmado el navegador.");
const common = { security: bearer, middleware: [signedIn, noProgram, publishes("user")] };

/** The passkeys of an account: each opens a session on the device that holds it, without a password. */
export const passkeys = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(
    createRoute({
      method: "get",
      path: "/",
      ...common,
      responses: { 200: answers(z.object({ items: z.array(passkey) }), "Las llaves de acceso de la cuenta.") },
    }),
    async (c) => {
      const rows = await c.var.services.db
        .selectFrom("passkeys")
        .where("userId", "=", c.var.person.id)
        .orderBy("createdAt")
        .selectAll()
        .execute();
      const items = rows.map(({ id, name, createdAt, lastUsedAt }) => ({
        id,
        name,
        createdAt: iso(createdAt),
        lastUsedAt: isoOrNull(lastUsedAt),
      }));
      return c.json({ items }, 200);
    },
  )
  .openapi(
    createRoute({
      method: "post",
      path: "/options",
      ...common,
      request: { body: takes(z.strictObject({ origin: pageOrigin })) },
      responses: { 200: answers(challenged, "Con lo que el navegador hace una llave nueva.") },
    }),
    async (c) => {
      const { services, person } = c.var;
      refusePasswords(services);
      const { rpId } = siteOf(services, c.req.valid("json").origin);
      const { generateRegistrationOptions } = await import("@simplewebauthn/server");
      const account = services.db.selectFrom("users").where("id", "=", person.id).select(["name", "email"]);
      const { name, email } = await account.executeTakeFirstOrThrow(notFound);
      const own = await services.db
        .selectFrom("passkeys")
        .where("userId", "=", person.id)
        .select("credentialId")
        .execute();
      const { challenge, ticket: made } = makeChallenge(services, `make:${person.id}`);
      const options = await generateRegistrationOptions({
        rpName: (await readHouse(services.db)).name,
        rpID: rpId,
        userName: email,
        userDisplayName: name,
        userID: new TextEncoder().encode(person.id),
        challenge: Buffer.from(challenge, "base64url"),
        excludeCredentials: own.map(({ credentialId }) => ({ id: credentialId })),
        authenticatorSelection: { residentKey: "required", userVerification: "required" },
        // EdDSA, ES256 and RS256: what devices have.
        supportedAlgorithmIDs: [-8, -7, -257],
      });
      return c.json({ ticket: made, options: { ...options } }, 200);
    },
  )
  .openapi(
    createRoute({
      method: "post",
      path: "/",
      ...common,
      request: {
        body: takes(
          z.strictObject({
            name: line("El nombre", limits.name, 1),
            origin: pageOrigin,
            ticket,
            response: browserAnswer,
            currentPassword: z.string().max(1000, "La contraseña es demasiado larga.").optional(),
          }),
        ),
      },
      responses: { 204: { description: "Con ella se entra desde ahora." } },
    }),
    async (c) => {
      const { services, person } = c.var;
      const given = c.req.valid("json");
      refusePasswords(services);
      await refuseOwnedPasskey(c);
      await confirmPassword(c, given.currentPassword);
      const { origin, rpId } = siteOf(services, given.origin);
      const { challenge, at } = openTicket(services, `make:${person.id}`, given.ticket);
      const { verifyRegistrationResponse } = await import("@simplewebauthn/server");
      const { registrationInfo } = await verifyRegistrationResponse({
        response: given.response as unknown as RegistrationResponseJSON,
        expectedChallenge: challenge,
        expectedOrigin: origin,
        expectedRPID: rpId,
        requireUserVerification: true,
      }).catch((error) => {
        services.log.info({ err: error }, "una llave de acceso no se pudo comprobar");
        throw invalid("response", "La llave no se ha podido comprobar. Empieza otra vez.");
      });
      if (!registrationInfo) throw invalid("response", "La llave no se ha podido comprobar. Empieza otra vez.");
      const { credential } = registrationInfo;
      const now = Date.now();
      const row = {
        ...newRow(now),
        userId: person.id,
        name: given.name,
        credentialId: credential.id,
        publicKey: Buffer.from(credential.publicKey).toString("base64url"),
        counter: credential.counter,
        transports: JSON.stringify(credential.transports ?? []),
        challengedAt: at,
        lastUsedAt: null,
      };
      try {
        await services.db.transaction().execute(async (trx) => {
          const own = await trx.selectFrom("passkeys").where("userId", "=", person.id).select("id").execute();
          if (own.length >= most) throw invalid("name", `Son ${most} llaves como mucho: elimina alguna.`);
          await trx.insertInto("passkeys").values(row).execute();
          await recordAudit(trx, c, "create", "passkey", row.id, { changes: { after: { name: row.name } } });
        });
      } catch (error) {
        if (isTaken(error)) throw invalid("response", "Esa llave ya está en una cuenta.");
        throw error;
      }
      return c.body(null, 204);
    },
  )
  .openapi(
    createRoute({
      method: "delete",
      path: "/{id}",
      ...common,
      // Without this check, a password alone would be enough to replace the passkey with another second step.
      middleware: [...common.middleware, withSecondStep],
      request: { params: idParam },
      responses: { 204: { description: "Con ella ya no se entra." } },
    }),
    async (c) => {
      const { services, person } = c.var;
      const { id } = c.req.valid("param");
      await services.db.transaction().execute(async (trx) => {
        const row = await trx
          .deleteFrom("passkeys")
          .where("id", "=", id)
          .where("userId", "=", person.id)
          .returning("name")
          .executeTakeFirstOrThrow(notFound);
        await recordAudit(trx, c, "delete", "passkey", id, { changes: { before: { name: row.name } } });
      });
      return c.body(null, 204);
    },
  );
