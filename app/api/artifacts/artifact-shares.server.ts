import { randomBytes } from "node:crypto";
import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import type { ApiEnv } from "../env.server.ts";
import { active, noProgram, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, invalid, notFound } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { countAttempt, networkOf } from "../http/rate-limit.server.ts";
import { answers, bearer, id, idParam, iso } from "../http/schemas.server.ts";
import { artifact, artifactShare } from "./artifact-fields.server.ts";
import { findOwnArtifact } from "./artifacts.server.ts";

const own = {
  path: "/{id}/share" as const,
  security: bearer,
  middleware: [signedIn, noProgram, active, publishes("artifact")],
  request: { params: idParam },
};

const shareArtifactRoute = createRoute({
  method: "put",
  ...own,
  responses: { 200: answers(artifactShare, "El enlace, que enseña la versión de ahora.") },
});
const shareArtifact: RouteHandler<typeof shareArtifactRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const row = await findOwnArtifact(services, person, c.req.valid("param").id);
  if (row.sessionId !== null) {
    throw invalid("id", "Lo de una conversación temporal no se comparte: se borra con la sesión.");
  }
  if (row.version === 0) throw invalid("id", "Se está escribiendo: espera a que acabe.");
  const version = Number(row.version);
  // When two requests share the artifact at once, the first link stays.
  const { shareToken } = await services.db
    .updateTable("artifacts")
    .set((e) => ({
      shareToken: e.fn.coalesce("shareToken", e.val(randomBytes(18).toString("base64url"))),
      sharedVersion: version,
    }))
    .where("id", "=", row.id)
    .returning("shareToken")
    .executeTakeFirstOrThrow(notFound);
  return c.json({ token: shareToken ?? "", version }, 200);
};

const endShareRoute = createRoute({
  method: "delete",
  ...own,
  responses: { 204: { description: "El enlace ya no vale." } },
});
const endShare: RouteHandler<typeof endShareRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const row = await findOwnArtifact(services, person, c.req.valid("param").id);
  await services.db
    .updateTable("artifacts")
    .set({ shareToken: null, sharedVersion: null })
    .where("id", "=", row.id)
    .execute();
  return c.body(null, 204);
};

/** The link of an artifact: its owner makes it, has it show the newest version, and takes it back. */
export const artifactShares = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(shareArtifactRoute, shareArtifact)
  .openapi(endShareRoute, endShare);

const sharedArtifact = artifact
  .pick({ title: true, kind: true, language: true, version: true })
  .extend({
    text: z.string(),
    writtenAt: z.string(),
    aiNotice: z
      .string()
      .nullable()
      .openapi({ description: "Lo que avisa de que es de un modelo; null: de una persona." }),
  })
  .openapi("SharedArtifact");

const readSharedRoute = createRoute({
  method: "get",
  path: "/{token}",
  request: { params: z.object({ token: id.openapi({ param: { name: "token", in: "path" } }) }) },
  responses: { 200: answers(sharedArtifact, "La versión compartida de un escrito.") },
});
const readShared: RouteHandler<typeof readSharedRoute, ApiEnv> = async (c) => {
  await countAttempt(c, "shared", networkOf(c));
  const { db, config } = c.var.services;
  const row = await db
    .selectFrom("artifacts")
    .innerJoin("users", "users.id", "artifacts.userId")
    .innerJoin("artifactVersions as v", (join) =>
      join.onRef("v.artifactId", "=", "artifacts.id").onRef("v.n", "=", "artifacts.sharedVersion"),
    )
    .where("shareToken", "=", c.req.valid("param").token)
    .where("users.status", "=", "active")
    .select(["artifacts.title", "artifacts.kind", "artifacts.language", "v.n", "v.text", "v.createdAt", "v.writerId"])
    .executeTakeFirstOrThrow(notFound);
  const { title, kind, language, text } = row;
  const aiNotice = row.writerId === null ? config.aiNotice : null;
  return c.json({ title, kind, language, version: Number(row.n), text, writtenAt: iso(row.createdAt), aiNotice }, 200);
};

/** A shared artifact, for anyone with its link: the version that was shared, nothing about its owner. */
export const sharedArtifacts = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(
  readSharedRoute,
  readShared,
);
