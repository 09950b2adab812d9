import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { AuthenticationResponseJSON } from "@simplewebauthn/server";
import type { PasskeyRow } from "../../db/tables.ts";
import type { ApiEnv, Services } from "../env.server.ts";
import { recordAudit } from "../http/audit.server.ts";
import { answerInvalid, Problem } from "../http/problem.server.ts";
import { countAttempt, networkOf } from "../http/rate-limit.server.ts";
import { answers, takes } from "../http/schemas.server.ts";
import { deviceOf, refusePasswords } from "./accounts.server.ts";
import { answerTokens, token } from "./answer-tokens.server.ts";
import { makeChallenge, openTicket, pageOrigin, siteOf, ticket } from "./passkey-challenges.server.ts";
import { browserAnswer, challenged } from "./passkeys.server.ts";
import { openSession } from "./session-tokens.server.ts";

const purpose = "enter";
const unknown = () => new Problem(401, "Esa llave no es de ninguna cuenta de aquí, o ya no vale.");

/** Coming in by a passkey: it proves that the device is there and that its person has unlocked it, so no code is asked for. */
export const passkeyEntries = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(
    createRoute({
      method: "post",
      path: "/options",
      request: { body: takes(z.strictObject({ origin: pageOrigin })) },
      responses: { 200: answers(challenged, "Lo que firma la llave.") },
    }),
    async (c) => {
      const { services } = c.var;
      refusePasswords(services);
      const { rpId } = siteOf(services, c.req.valid("json").origin);
      const { generateAuthenticationOptions } = await import("@simplewebauthn/server");
      const { challenge, ticket: made } = makeChallenge(services, purpose);
      const options = await generateAuthenticationOptions({
        rpID: rpId,
        challenge: Buffer.from(challenge, "base64url"),
        userVerification: "required",
      });
      return c.json({ ticket: made, options: { ...options } }, 200);
    },
  )
  .openapi(
    createRoute({
      method: "post",
      path: "/",
      request: { body: takes(z.strictObject({ origin: pageOrigin, ticket, response: browserAnswer })) },
      responses: { 200: token("El token de acceso; el de refresco va en una cookie.") },
    }),
    async (c) => {
      const { services } = c.var;
      const { db } = services;
      refusePasswords(services);
      await countAttempt(c, "signinAddress", networkOf(c));
      const given = c.req.valid("json");
      const { origin, rpId } = siteOf(services, given.origin);
      const { challenge, at } = openTicket(services, purpose, given.ticket);
      const row = await db
        .selectFrom("passkeys")
        .where("credentialId", "=", given.response.id)
        .selectAll()
        .executeTakeFirst();
      if (!row) throw unknown();
      const { verifyAuthenticationResponse } = await import("@simplewebauthn/server");
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        response: given.response as unknown as AuthenticationResponseJSON,
        expectedChallenge: challenge,
        expectedOrigin: origin,
        expectedRPID: rpId,
        requireUserVerification: true,
        credential: {
          id: row.credentialId,
          publicKey: new Uint8Array(Buffer.from(row.publicKey, "base64url")),
          counter: Number(row.counter),
          transports: JSON.parse(row.transports),
        },
      }).catch((error) => {
        services.log.info({ err: error }, "una llave de acceso no se pudo comprobar");
        throw unknown();
      });
      if (!verified) throw unknown();
      if (!(await isFirstUse(services, row, at, authenticationInfo.newCounter))) throw unknown();
      const tokens = await db.transaction().execute(async (trx) => {
        const changes = { after: { passkey: row.name } };
        await recordAudit(trx, c, "signin", "session", null, { actorId: row.userId, changes });
        return openSession({ ...services, db: trx }, { userId: row.userId, ...deviceOf(c) }, "passkey");
      });
      return answerTokens(c, tokens, 200);
    },
  );

/** Accepts each challenge once: the row keeps the time of the last challenge, so a repeated or older answer is refused. */
async function isFirstUse(
  { db, clock }: Services,
  { id }: PasskeyRow,
  challengedAt: number,
  counter: number,
): Promise<boolean> {
  const now = clock.now();
  const { numUpdatedRows } = await db
    .updateTable("passkeys")
    .set({ challengedAt, counter, lastUsedAt: now, updatedAt: now })
    .where("id", "=", id)
    .where("challengedAt", "<", challengedAt)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
