import { createHash } from "node:crypto";
import { createMiddleware } from "hono/factory";
import { v7 as newId } from "uuid";
import { isTaken } from "../db/errors.server.ts";
import { signedIn } from "./authentication.server.ts";
import type { ApiEnv } from "./env.server.ts";
import { invalid, Problem } from "./problem.server.ts";

// What these make can be made again by mistake; a key for programs is not kept in clear, and a message has a key of its own.
const creates = /^(\/v1)?\/api\/(chat|message|model|page|project|subscription|summary|training|user)$/;
const longest = 200;
// Whoever was making it has died by then.
const abandoned = 60_000;

/**
 * A create that carries an `Idempotency-Key` (IETF draft-ietf-httpapi-idempotency-key-header) is made once: sent again within a
 * day, it is answered with what was made. Another body under the same key is 422, one still under way 409.
 */
export const idempotent = createMiddleware<ApiEnv>(async (c, next) => {
  const key = c.req.header("Idempotency-Key");
  if (key === undefined || c.req.method !== "POST" || !creates.test(c.req.path)) return next();
  if (key === "" || key.length > longest) throw invalid("Idempotency-Key", "La Idempotency-Key no es válida.");
  await signedIn(c, async () => {});
  const { person, services } = c.var;
  const { db } = services;
  const request = createHash("sha256")
    .update(`${c.req.path}\n${await c.req.text()}`)
    .digest("base64url");
  const now = Date.now();
  const mine = db.deleteFrom("idempotency").where("userId", "=", person.id).where("key", "=", key);
  await mine
    .where("status", "is", null)
    .where("createdAt", "<", now - abandoned)
    .execute();
  const row = {
    id: newId(),
    createdAt: now,
    updatedAt: now,
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
