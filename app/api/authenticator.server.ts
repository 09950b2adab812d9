import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { v7 as newId } from "uuid";
import { confirmPassword } from "./accounts.server.ts";
import { recordAudit } from "./audit.server.ts";
import { signedIn } from "./authentication.server.ts";
import {
  addressOf,
  code,
  makeRecoveryCodes,
  newSecret,
  openSecret,
  sealSecret,
  stepOf,
} from "./authenticator-codes.server.ts";
import type { ApiEnv } from "./env.server.ts";
import { answerInvalid, invalid, Problem } from "./problem.server.ts";
import { answers, bearer, takes } from "./schemas.server.ts";

const common = { path: "/" as const, security: bearer, middleware: [signedIn] };
const state = z.object({ enabled: z.boolean(), recoveryCodesLeft: z.number() }).openapi("Authenticator");

const currentPassword = z.string("Falta la contraseña.").max(1000, "La contraseña es demasiado larga.");
const beginLasts = 15 * 60_000;

/** Two-step sign-in with an authenticator app (TOTP, RFC 6238): the person's own, if they want it. */
export const authenticator = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(
    createRoute({
      method: "get",
      ...common,
      responses: { 200: answers(state, "Si la cuenta pide un código al entrar.") },
    }),
    async (c) => {
      const row = await c.var.services.db
        .selectFrom("authenticators")
        .where("userId", "=", c.var.person.id)
        .select(["confirmedAt", "recoveryCodes"])
        .executeTakeFirst();
      const enabled = Boolean(row?.confirmedAt);
      const left = enabled ? (JSON.parse(row?.recoveryCodes ?? "[]") as string[]).length : 0;
      return c.json({ enabled, recoveryCodesLeft: left }, 200);
    },
  )
  .openapi(
    createRoute({
      method: "post",
      ...common,
      responses: {
        201: answers(
          z.object({ secret: z.string(), uri: z.string() }),
          "El secreto para la aplicación; hasta el primer código correcto no cambia nada.",
        ),
      },
    }),
    async (c) => {
      const { services, person } = c.var;
      const { db, authenticatorKey } = services;
      const { email } = await db
        .selectFrom("users")
        .where("id", "=", person.id)
        .select("email")
        .executeTakeFirstOrThrow();
      const now = Date.now();
      const known = await db
        .selectFrom("authenticators")
        .where("userId", "=", person.id)
        .selectAll()
        .executeTakeFirst();
      if (known?.confirmedAt) throw new Problem(409, "La verificación en dos pasos ya está activada.");
      // What is on the person's screen, or in their app already, holds until it is old.
      const held = known && openSecret(authenticatorKey, person.id, known.secret);
      if (!known || !held || now - known.updatedAt >= beginLasts) {
        const row = { secret: sealSecret(authenticatorKey, person.id, newSecret()), updatedAt: now };
        await db
          .insertInto("authenticators")
          .values({
            id: newId(),
            createdAt: now,
            userId: person.id,
            confirmedAt: null,
            lastStep: 0,
            recoveryCodes: "[]",
            ...row,
          })
          .onConflict((conflict) =>
            conflict.column("userId").doUpdateSet(row).where("authenticators.confirmedAt", "is", null),
          )
          .execute();
      }
      // Begun twice at the same moment, the later one counts for both.
      const { secret: sealed } = await db
        .selectFrom("authenticators")
        .where("userId", "=", person.id)
        .select("secret")
        .executeTakeFirstOrThrow();
      const secret = openSecret(authenticatorKey, person.id, sealed);
      if (!secret) throw new Error("the secret just stored can't be read");
      return c.json({ secret, uri: addressOf(secret, email) }, 201);
    },
  )
  .openapi(
    createRoute({
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
        200: answers(
          z.object({ recoveryCodes: z.array(z.string()) }),
          "Activada; estos códigos no se vuelven a mostrar.",
        ),
      },
    }),
    async (c) => {
      const { services, person } = c.var;
      const { db, authenticatorKey } = services;
      const given = c.req.valid("json");
      const row = await db.selectFrom("authenticators").where("userId", "=", person.id).selectAll().executeTakeFirst();
      if (row?.confirmedAt) throw new Problem(409, "La verificación en dos pasos ya está activada.");
      const now = Date.now();
      const secret = row && openSecret(authenticatorKey, person.id, row.secret);
      // Another window has begun anew: what this one showed no longer counts.
      if (!row || !secret || secret !== given.secret)
        throw new Problem(409, "Este código QR ya no vale. Empieza otra vez.");
      const step = stepOf(secret, given.code, now);
      if (step === undefined) {
        throw invalid(
          "code",
          "El código no es correcto. Comprueba la hora del teléfono y escribe el que muestra ahora.",
        );
      }
      await confirmPassword(c, given.currentPassword);
      const { codes, hashes } = makeRecoveryCodes(authenticatorKey);
      const { numUpdatedRows } = await db
        .updateTable("authenticators")
        .set({ confirmedAt: now, lastStep: step, recoveryCodes: JSON.stringify(hashes), updatedAt: now })
        .where("id", "=", row.id)
        .where("secret", "=", row.secret)
        .where("confirmedAt", "is", null)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) throw new Problem(409, "La verificación en dos pasos ya está activada.");
      // Whoever was in without a code is out, their programs too.
      await db.deleteFrom("apiKeys").where("userId", "=", person.id).execute();
      await db.deleteFrom("sessions").where("userId", "=", person.id).where("id", "!=", person.sessionId).execute();
      await recordAudit(db, c, { actorId: person.id, action: "create", resource: "authenticator", resourceId: row.id });
      return c.json({ recoveryCodes: codes }, 200);
    },
  )
  .openapi(
    createRoute({
      method: "delete",
      ...common,
      request: {
        body: takes(z.strictObject({ currentPassword })),
      },
      responses: { 204: { description: "Ya no se pide un código al entrar." } },
    }),
    async (c) => {
      const { db } = c.var.services;
      const { id } = c.var.person;
      await confirmPassword(c, c.req.valid("json").currentPassword);
      await db.deleteFrom("authenticators").where("userId", "=", id).execute();
      await recordAudit(db, c, { actorId: id, action: "delete", resource: "authenticator", resourceId: null });
      return c.body(null, 204);
    },
  );
