import { setTimeout } from "node:timers/promises";
import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { type ExpressionBuilder, sql } from "kysely";
import { ArtifactRefused, textOf } from "../../artifacts/artifacts.server.ts";
import type { Db } from "../../db/engine.server.ts";
import { inProjectOf } from "../../db/people/shared-work.server.ts";
import type { ArtifactRow, Tables } from "../../db/tables.ts";
import { pullStream } from "../../http/pull-stream.server.ts";
import { limits } from "../../process/limits.ts";
import type { ApiEnv, Person, Services } from "../env.server.ts";
import { auditOthers } from "../http/audit.server.ts";
import { active, signedIn } from "../http/authentication.server.ts";
import { takesBodyOf } from "../http/bodies.server.ts";
import { contains } from "../http/list.server.ts";
import { answerInvalid, invalid, notFound, Problem } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { answers, bearer, bytes, id, idParam, takes } from "../http/schemas.server.ts";
import { refuseStale, stale } from "../http/stored-rows.server.ts";
import { seeChat, writesInProject } from "../http/visibility.server.ts";
import { whileSignedIn } from "../http/while-signed-in.server.ts";
import { refuseOnHold } from "../retention/holds.server.ts";
import {
  artifact,
  artifactChange,
  artifactVersion,
  newArtifact,
  showArtifact,
  showVersion,
  wholeArtifact,
} from "./artifact-fields.server.ts";

const common = { security: bearer, middleware: [signedIn, active, publishes("artifact")] };
// Text in JSON: each character may take six bytes.
const writing = { ...common, middleware: [...common.middleware, takesBodyOf(6 * limits.artifact + limits.jsonBody)] };
const listedAtMost = 200;
// In ms: how often a text that is being written is looked at, for each of its readers.
const lookEvery = 400;

const listArtifactsRoute = createRoute({
  method: "get",
  path: "/",
  ...common,
  request: {
    query: z.object({
      q: z.string().max(limits.search).default("").openapi({ description: "En el título." }),
      chatId: id.optional(),
      projectId: id.optional(),
    }),
  },
  responses: {
    200: answers(
      z.object({ items: z.array(artifact) }),
      "Los de la persona y los de sus proyectos, los últimos primero.",
    ),
  },
});
const listArtifacts: RouteHandler<typeof listArtifactsRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const { q, chatId, projectId } = c.req.valid("query");
  const rows = await services.db
    .selectFrom("artifacts")
    .where(isVisible(person))
    .where(contains("artifacts.title", q))
    .$if(chatId !== undefined, (query) => query.where("chatId", "=", chatId ?? ""))
    .$if(projectId !== undefined, (query) => query.where("projectId", "=", projectId ?? ""))
    .orderBy("updatedAt", "desc")
    .limit(listedAtMost)
    .selectAll()
    .execute();
  return c.json({ items: rows.map((row) => showArtifact(row, person)) }, 200);
};

const readArtifactRoute = createRoute({
  method: "get",
  path: "/{id}",
  ...common,
  request: {
    params: idParam,
    query: z.object({
      version: z.coerce.number().int().min(1).optional().openapi({ description: "Sin ella, la última." }),
    }),
  },
  responses: { 200: answers(wholeArtifact, "El escrito con su texto.") },
});
const readArtifact: RouteHandler<typeof readArtifactRoute, ApiEnv> = async (c) => {
  const row = await seeArtifact(c.var.services, c.var.person, c.req.valid("param").id);
  return c.json(await whole(c, row, c.req.valid("query").version), 200);
};

const createArtifactRoute = createRoute({
  method: "post",
  path: "/",
  ...writing,
  request: { body: takes(newArtifact) },
  responses: { 201: answers(wholeArtifact, "El escrito nuevo.") },
});
const createArtifact: RouteHandler<typeof createArtifactRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const { chatId, projectId, language, ...given } = c.req.valid("json");
  const chat = chatId ? await seeChat(c, chatId) : undefined;
  if (chat && chat.userId !== person.id) throw notFound();
  await refuseProject(services, person, projectId);
  const place = { userId: person.id, chatId, projectId, sessionId: chat?.sessionId ?? null };
  const { text, reason, ...head } = given;
  const written = { text, reason, writer: { writerId: person.id } };
  const row = await orInvalid(() => services.artifacts.add(place, { ...head, language: language || null }, written));
  return c.json(await whole(c, row), 201);
};

const changeArtifactRoute = createRoute({
  method: "patch",
  path: "/{id}",
  ...writing,
  request: { params: idParam, body: takes(artifactChange) },
  responses: { 200: answers(wholeArtifact, "El escrito, cambiado; con texto, una versión más.") },
});
const changeArtifact: RouteHandler<typeof changeArtifactRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const before = await findOwnArtifact(services, person, c.req.valid("param").id);
  const { text, reason = "", projectId, chatId, language, ...head } = c.req.valid("json");
  if (before.version === 0) throw invalid("text", "Se está escribiendo: espera a que acabe.");
  if (projectId && projectId !== before.projectId) await refuseProject(services, person, projectId);
  const now = await whole(c, before);
  refuseStale(c, before, now);
  if (chatId !== undefined) await refuseMove(c, before, chatId);
  const columns = Object.fromEntries(
    Object.entries({ ...head, projectId, chatId, language: language === "" ? null : language }).filter(
      ([, value]) => value !== undefined,
    ),
  );
  const written =
    text === undefined || text === now.text ? undefined : { text, reason, writer: { writerId: person.id } };
  if (!written && Object.keys(columns).length === 0) return c.json(now, 200);
  const changed = await orInvalid(() => services.artifacts.change(before, { ...columns, ...(written && { written }) }));
  if (!changed) throw stale(await whole(c, await findOwnArtifact(services, person, before.id)));
  return c.json(await whole(c, changed), 200);
};

const listVersionsRoute = createRoute({
  method: "get",
  path: "/{id}/versions",
  ...common,
  request: { params: idParam },
  responses: {
    200: answers(z.object({ items: z.array(artifactVersion) }), "Sus versiones, la última primero; se guardan cien."),
  },
});
const listVersions: RouteHandler<typeof listVersionsRoute, ApiEnv> = async (c) => {
  const row = await seeArtifact(c.var.services, c.var.person, c.req.valid("param").id);
  const rows = await versionsOf(c.var.services.db, row.id).orderBy("n", "desc").execute();
  return c.json({ items: rows.map(showVersion) }, 200);
};

const followGrowthRoute = createRoute({
  method: "get",
  path: "/{id}/growth",
  ...common,
  request: { params: idParam },
  responses: {
    200: {
      content: { "text/markdown": { schema: bytes } },
      description: "El texto mientras un modelo lo escribe, hasta que acaba.",
    },
  },
});
const followGrowth: RouteHandler<typeof followGrowthRoute, ApiEnv> = async (c) => {
  const { services, person } = c.var;
  const row = await seeArtifact(services, person, c.req.valid("param").id);
  const { signal, leave } = whileSignedIn(services, person, c.req.raw.signal);
  const text = growth(() => seeArtifact(services, person, row.id), services.db, signal, leave);
  const headers = { "Content-Type": "text/markdown; charset=utf-8", "X-Accel-Buffering": "no" };
  return c.body(
    pullStream(text, () => text.return(undefined)),
    200,
    headers,
  );
};

const deleteArtifactRoute = createRoute({
  method: "delete",
  path: "/{id}",
  ...common,
  request: { params: idParam },
  responses: { 204: { description: "El escrito ya no existe, ni sus versiones." } },
});
const deleteArtifact: RouteHandler<typeof deleteArtifactRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const { id: artifactId } = c.req.valid("param");
  // An administrator deletes an artifact without reading it, as with chats.
  const isAdmin = person.role === "admin";
  const row = isAdmin ? await find(services, artifactId) : await findOwnArtifact(services, person, artifactId);
  if (row.sessionId === null) await refuseOnHold(services.db, person, row.userId);
  await services.db.transaction().execute(async (trx) => {
    await trx.deleteFrom("artifacts").where("id", "=", row.id).execute();
    const before = { kind: row.kind, version: Number(row.version) };
    await auditOthers(trx, c, row.userId, "delete", "artifact", row.id, { before });
  });
  if (row.fileId) await services.files.delete([row.fileId]);
  return c.body(null, 204);
};

/** Texts that models and people write beside conversations. Each belongs to one person, and the members of its project may read it. */
export const artifacts = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(listArtifactsRoute, listArtifacts)
  .openapi(createArtifactRoute, createArtifact)
  .openapi(readArtifactRoute, readArtifact)
  .openapi(changeArtifactRoute, changeArtifact)
  .openapi(listVersionsRoute, listVersions)
  .openapi(followGrowthRoute, followGrowth)
  .openapi(deleteArtifactRoute, deleteArtifact);

/** Condition: a person's own artifacts and those of their projects; artifacts of a temporary chat only in its session. */
const isVisible =
  ({ id: userId, sessionId }: Pick<Person, "id" | "sessionId">) =>
  (e: ExpressionBuilder<Tables, "artifacts">) =>
    e.and([
      e.or([e("artifacts.userId", "=", userId), inProjectOf("artifacts.projectId", userId)]),
      e.or([e("artifacts.sessionId", "is", null), e("artifacts.sessionId", "=", sessionId)]),
    ]);

/** Throws 404. */
const seeArtifact = ({ db }: Services, person: Person, artifactId: string): Promise<ArtifactRow> =>
  db
    .selectFrom("artifacts")
    .where("id", "=", artifactId)
    .where(isVisible(person))
    .selectAll()
    .executeTakeFirstOrThrow(notFound);

const find = ({ db }: Services, artifactId: string): Promise<ArtifactRow> =>
  db.selectFrom("artifacts").where("id", "=", artifactId).selectAll().executeTakeFirstOrThrow(notFound);

/** The artifact, for its owner. Throws 404. */
export async function findOwnArtifact(services: Services, person: Person, artifactId: string): Promise<ArtifactRow> {
  const row = await seeArtifact(services, person, artifactId);
  if (row.userId !== person.id) throw notFound();
  return row;
}

async function refuseProject(services: Services, person: Person, projectId: string | null): Promise<void> {
  if (projectId && !(await writesInProject(services, person, projectId))) {
    throw invalid("projectId", "Ese proyecto no existe.");
  }
}

/** Throws 404 if the chat has another owner than the artifact, and 422 for a move from or into a temporary chat. */
async function refuseMove(c: Context<ApiEnv>, { userId, sessionId }: ArtifactRow, chatId: string): Promise<void> {
  const chat = await seeChat(c, chatId);
  if (chat.userId !== userId) throw notFound();
  if (chat.sessionId !== sessionId) throw invalid("chatId", "Lo de una conversación temporal se queda en ella.");
}

const versionsOf = (db: Db, artifactId: string) =>
  db
    .selectFrom("artifactVersions as v")
    .leftJoin("users", "users.id", "v.writerId")
    .leftJoin("models", "models.id", "v.modelId")
    .where("v.artifactId", "=", artifactId)
    .select(["v.n", "v.createdAt", "v.writerId", "v.reason", sql<number>`length(v.text)`.as("length")])
    .select(["users.name as personName", "models.name as modelName"]);

/** An artifact with the text of a version. Throws 404 for one that is not kept. */
async function whole(
  c: Context<ApiEnv>,
  row: ArtifactRow,
  version = Number(row.version),
): Promise<z.output<typeof wholeArtifact>> {
  const { db } = c.var.services;
  const shown = showArtifact(row, c.var.person);
  if (row.version === 0) return { ...shown, text: row.growing ?? "", shown: null };
  const found = await versionsOf(db, row.id).where("v.n", "=", version).executeTakeFirstOrThrow(notFound);
  return { ...shown, text: await textOf(db, { id: row.id, version }), shown: showVersion(found) };
}

/** The pieces added to a text while it is written; ends once the text is whole, or gone. */
async function* growth(
  look: () => Promise<ArtifactRow>,
  db: Db,
  signal: AbortSignal,
  leave: () => void,
): AsyncGenerator<string> {
  let sent = "";
  try {
    while (!signal.aborted) {
      const row = await look().catch(gone);
      if (!row) return;
      const text = row.version === 0 ? (row.growing ?? "") : await textOf(db, row);
      // A text that was begun again is no addition to the part already sent: nothing is sent, and the reader gets the whole text at its end.
      if (text.length > sent.length && text.startsWith(sent)) {
        yield text.slice(sent.length);
        sent = text;
      }
      if (row.version > 0) return;
      await setTimeout(lookEvery, undefined, { signal }).catch(() => {});
    }
  } finally {
    leave();
  }
}

/** Ends the stream of an artifact that was deleted or is hidden from its reader. */
function gone(error: unknown): undefined {
  if (!(error instanceof Problem && error.status === 404)) throw error;
}

async function orInvalid<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ArtifactRefused ? invalid("text", error.message) : error;
  }
}
