import { createHmac } from "node:crypto";
import { createMiddleware } from "hono/factory";
import { isTaken } from "../../db/errors.server.ts";
import { newRow } from "../../db/rows.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { invalid, Problem } from "./problem.server.ts";

const longest = 200;
// In ms: after this time the process that handled the first request is assumed dead.
const abandoned = 60_000;

/**
 * For routes that create something and whose response holds no secret; after `signedIn`. A request with `Idempotency-Key`
 * (IETF draft-ietf-httpapi-idempotency-key-header) is carried out once: repeated within a day, it gets the stored response.
 * Another request with the same key gets 422; the same request gets 409 while the first one is still running.
 */
export const idempotent = createMiddleware<ApiEnv>(async (c, next) => {
  const key = c.req.header("Idempotency-Key");
  if (key === undefined) return next();
  if (key === "" || key.length > longest) throw invalid("Idempotency-Key", "La Idempotency-Key no es válida.");
  const { person, services } = c.var;
  const { db, clock } = services;
  // A keyed hash, because the body of a new account contains a password that a plain fast hash would expose to offline
  // guessing.
  const request = createHmac("sha256", services.tokenKey)
    .update(`${c.req.path}\n${await c.req.text()}`)
    .digest("base64url");
  const now = clock.now();
  const mine = db.deleteFrom("idempotency").where("userId", "=", person.id).where("key", "=", key);
  await mine
    .where("status", "is", null)
    .where("createdAt", "<", now - abandoned)
    .execute();
  const row = {
    ...newRow(now),
    userId: person.id,
    key,
    request,
    status: null,
    body: null,
  };
  try {
    await db.insertInto("idempotency").values(row).execute();
  } catch (error) {
    if (!isTaken(error)) throw error;
    const before = await db
      .selectFrom("idempotency")
      .where("userId", "=", person.id)
      .where("key", "=", key)
      .selectAll()
      .executeTakeFirst();
    if (before && before.request !== request) {
      throw invalid("Idempotency-Key", "Esa Idempotency-Key ya se usó con otra petición.");
    }
    if (!before?.body) {
      throw new Problem(409, "Esa misma petición se está haciendo ahora.", { headers: { "Retry-After": "1" } });
    }
    return c.body(before.body, before.status as 201, {
      "Content-Type": "application/json",
      "Idempotent-Replayed": "true",
    });
  }
  await next();
  if (c.res.status !== 201) {
    await mine.execute();
    return;
  }
  const body = await c.res.clone().text();
  await db.updateTable("idempotency").set({ status: 201, body }).where("id", "=", row.id).execute();
});
