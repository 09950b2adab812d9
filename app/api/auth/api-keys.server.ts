import { randomBytes } from "node:crypto";
import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import { sql } from "kysely";
import type { Db } from "../../db/engine.server.ts";
import { newRow } from "../../db/rows.server.ts";
import type { ApiKeyRow } from "../../db/tables.ts";
import { hashToken } from "../../process/crypto.server.ts";
import { limits } from "../../process/limits.ts";
import type { ApiEnv } from "../env.server.ts";
import { recordAudit } from "../http/audit.server.ts";
import { active, apiKeyStart, noProgram, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, invalid, notFound } from "../http/problem.server.ts";
import { mayEndSessions, publishes } from "../http/publish-change.server.ts";
import { deletionRoute } from "../http/resource-routes.server.ts";
import { answers, bearer, iso, isoOrNull, line, takes } from "../http/schemas.server.ts";

const apiKey = z
  .object({
    id: z.string(),
    createdAt: z.string(),
    name: z.string(),
    scope: z.enum(["read", "write"]).openapi({ description: "read: solo GET; write: todo lo demás también." }),
    start: z.string().openapi({ description: "Sus primeras letras, para reconocerla." }),
    lastUsedAt: z.string().nullable(),
    connected: z.boolean().openapi({ description: "Si es de un programa que se ha conectado a /mcp por OAuth." }),
  })
  .openapi("ApiKey");
const made = apiKey
  .extend({ token: z.string().openapi({ description: "No se enseña nunca más." }) })
  .openapi("NewApiKey");
const newKey = z.strictObject({
  name: line("El nombre", limits.name, 1),
  scope: z.enum(["read", "write"], "El permiso tiene que ser read o write."),
});

const show = (row: ApiKeyRow): z.output<typeof apiKey> => ({
  id: row.id,
  createdAt: iso(row.createdAt),
  name: row.name,
  scope: row.scope,
  start: row.start,
  lastUsedAt: isoOrNull(row.lastUsedAt),
  connected: row.client !== null,
});

const common = {
  security: bearer,
  // A program's streams end with its key.
  middleware: [signedIn, noProgram, active, publishes("key"), mayEndSessions((c) => c.var.person.id)],
};

const listKeysRoute = createRoute({
  method: "get",
  path: "/",
  ...common,
  responses: { 200: answers(z.object({ items: z.array(apiKey) }), "Las claves de la persona, la última primero.") },
});
const listKeys: RouteHandler<typeof listKeysRoute, ApiEnv> = async (c) => {
  const rows = await c.var.services.db
    .selectFrom("apiKeys")
    .where("userId", "=", c.var.person.id)
    // A program that is being connected has no key yet.
    .where("challenge", "is", null)
    .orderBy("id", "desc")
    .selectAll()
    .execute();
  return c.json({ items: rows.map(show) }, 200);
};

const createKeyRoute = createRoute({
  method: "post",
  path: "/",
  ...common,
  request: { body: takes(newKey) },
  responses: { 201: answers(made, "La clave, esta vez con su texto.") },
});
const createKey: RouteHandler<typeof createKeyRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const token = `${apiKeyStart}${randomBytes(32).toString("base64url")}`;
  const now = Date.now();
  const row: ApiKeyRow = {
    ...newRow(now),
    userId: person.id,
    ...c.req.valid("json"),
    start: token.slice(0, apiKeyStart.length + 4),
    tokenHash: hashToken(token),
    lastUsedAt: null,
    client: null,
    codeHash: null,
    challenge: null,
    redirectUri: null,
    refreshHash: null,
    expiresAt: null,
  };
  await services.db.transaction().execute(async (trx) => {
    await refuseManyKeys(trx, person.id);
    await trx.insertInto("apiKeys").values(row).execute();
    const changes = { after: { name: row.name, scope: row.scope } };
    await recordAudit(trx, c, "create", "key", row.id, { ownerId: person.id, changes });
  });
  return c.json({ ...show(row), token }, 201, { "Cache-Control": "no-store" });
};

/** Deletes connections whose program never fetched its key; throws 422 if the person already has as many keys as allowed. */
export async function refuseManyKeys(db: Db, userId: string): Promise<void> {
  const unfinished = db.deleteFrom("apiKeys").where("userId", "=", userId).where("challenge", "is not", null);
  await unfinished.where("expiresAt", "<", Date.now()).execute();
  const of = db.selectFrom("apiKeys").where("userId", "=", userId).where("challenge", "is", null);
  const { count } = await of.select(sql<number>`count(*)`.as("count")).executeTakeFirstOrThrow();
  if (Number(count) >= limits.apiKeys) {
    throw invalid("name", `Puedes tener ${limits.apiKeys} claves; elimina antes alguna.`);
  }
}

const deleteKeyRoute = deletionRoute(common, "La clave ya no vale.");
const deleteKey: RouteHandler<typeof deleteKeyRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const { id } = c.req.valid("param");
  await services.db.transaction().execute(async (trx) => {
    const { numDeletedRows } = await trx
      .deleteFrom("apiKeys")
      .where("id", "=", id)
      .where("userId", "=", person.id)
      .executeTakeFirst();
    if (numDeletedRows === 0n) throw notFound();
    await recordAudit(trx, c, "delete", "key", id, { ownerId: person.id });
  });
  return c.body(null, 204);
};

/** The keys by which a person's other programs use the API. Only their hashes are stored. */
export const apiKeys = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(listKeysRoute, listKeys)
  .openapi(createKeyRoute, createKey)
  .openapi(deleteKeyRoute, deleteKey);
