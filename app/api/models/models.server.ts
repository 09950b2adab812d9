import { OpenAPIHono, type RouteHandler } from "@hono/zod-openapi";
import { sql } from "kysely";
import { v7 as newId } from "uuid";
import type { Db } from "../../db/connection.server.ts";
import { usableBy } from "../../db/groups.server.ts";
import { prepared } from "../../db/prepared.server.ts";
import type { AssistantRow, ModelRow } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import type { ApiEnv, Services } from "../env.server.ts";
import { checkGroupIds, parseGroupIds } from "../groups/group-ids.server.ts";
import { recordAudit } from "../http/audit.server.ts";
import { active, admin, noProgram, signedIn } from "../http/authentication.server.ts";
import { contains, listPage } from "../http/list.server.ts";
import { ifUnchanged, refuseStale, stale } from "../http/optimistic-lock.server.ts";
import { answerInvalid, invalid, notFound } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { changeRoute, creationRoute, deletionRoute, itemRoute, listRoute } from "../http/resource-routes.server.ts";
import { bearer } from "../http/schemas.server.ts";
import { model, newModel, showModel, toColumns } from "./model-fields.server.ts";

/**
 * The model to answer a person with: the one asked for, else the default. Throws 422 when it is not there, not enabled or for other
 * groups.
 */
export async function modelToUse(
  { db }: Pick<Services, "db">,
  userId: string,
  ...wanted: (string | null | undefined)[]
): Promise<ModelRow> {
  const [asked, ...others] = wanted;
  const { rows: models } = await findEnabled(db, { userId });
  const find = (id: string | null | undefined) => models.find((row) => row.id === id);
  if (asked && !find(asked)) throw invalid("modelId", "Ese modelo ya no está disponible. Elige otro.");
  const chosen = [asked, ...others].map(find).find(Boolean) ?? models[0];
  if (!chosen) throw invalid("modelId", "No hay ningún modelo disponible. Avisa a quien administra.");
  return chosen;
}

/** The models that a person may choose from, in the order that administrators gave them. */
export async function modelsFor(
  db: Db,
  userId: string,
): Promise<Pick<ModelRow, "id" | "name" | "provider" | "acceptsImages" | "isDefault">[]> {
  return (await findChoices(db, { userId })).rows;
}

const usable = (db: Db, { userId }: { userId: string }) =>
  db.selectFrom("models").where("enabled", "=", 1).where(usableBy("models", userId));

const findChoices = prepared((db, person: { userId: string }) =>
  usable(db, person)
    .orderBy("position")
    .orderBy("id")
    .limit(limits.listMax)
    .select(["id", "name", "provider", "acceptsImages", "isDefault"]),
);

type Settings = Pick<AssistantRow, "modelId" | "temperature">;

/** The model that a chat was had with last, and the assistant that it is had with, if its owner may still use that. */
export async function modelOfChat({ db }: Pick<Services, "db">, chatId: string) {
  const row = await db
    .selectFrom("chats as c")
    .leftJoin("assistants as a", (join) =>
      join
        .onRef("a.id", "=", "c.assistantId")
        .on((e) =>
          e.or([
            e("a.userId", "=", e.ref("c.userId")),
            e.and([e("a.shared", "=", 1), usableBy("a", sql.ref("c.userId"))]),
          ]),
        ),
    )
    .where("c.id", "=", chatId)
    .select(["c.modelId", "a.id as assistantId", "a.modelId as ownModelId", "a.temperature"])
    .executeTakeFirst();
  const assistant: Settings | undefined = row?.assistantId
    ? { modelId: row.ownModelId, temperature: row.temperature }
    : undefined;
  return { modelId: row?.modelId ?? null, assistant };
}

/** A model with the settings of an assistant. */
export const withSettings = (model: ModelRow, assistant: Settings | undefined): ModelRow =>
  assistant?.temperature == null ? model : { ...model, temperature: assistant.temperature };

const findEnabled = prepared((db, person: { userId: string }) =>
  usable(db, person).orderBy("isDefault", "desc").orderBy("position").selectAll(),
);

const common = { security: bearer, middleware: [signedIn, active] };
const forAdmins = { security: bearer, middleware: [signedIn, noProgram, admin, publishes("model")] };

const listModelsRoute = listRoute(common, model, "Los modelos disponibles; para administradores, todos.");
const listModels: RouteHandler<typeof listModelsRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const query = c.req.valid("query");
  const visible = services.db
    .selectFrom("models")
    .selectAll("models")
    .$if(person.role !== "admin", (q) => q.where("models.enabled", "=", 1).where(usableBy("models", person.id)))
    .where(contains("models.name", query.q));
  const { rows, ...rest } = await listPage(services.db, visible, query, {
    table: "models",
    sortable: [
      { column: "position", direction: "asc" },
      { column: "name", direction: "asc" },
    ],
    filters: { provider: "text", enabled: "flag", isDefault: "flag" },
  });
  return c.json({ items: rows.map((row) => showModel(services, row, person)), ...rest }, 200);
};

const createModelRoute = creationRoute(forAdmins, newModel, model, "El modelo nuevo.");
const createModel: RouteHandler<typeof createModelRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  await checkGroupIds(services.db, c.req.valid("json").groupIds);
  const id = newId();
  const now = Date.now();
  const row: ModelRow = {
    id,
    createdAt: now,
    updatedAt: now,
    ...toColumns(services, id, c.req.valid("json"), null),
  };
  await services.db.transaction().execute(async (trx) => {
    if (row.isDefault) await clearDefault(trx);
    await trx.insertInto("models").values(row).execute();
    await recordAudit(trx, c, "create", "model", id, { changes: { after: showModel(services, row, person) } });
  });
  return c.json(showModel(services, row, person), 201);
};

const readModelRoute = itemRoute(common, model, "El modelo.");
const readModel: RouteHandler<typeof readModelRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const { id } = c.req.valid("param");
  const row = await services.db
    .selectFrom("models")
    .where("id", "=", id)
    .$if(person.role !== "admin", (q) => q.where("enabled", "=", 1).where(usableBy("models", person.id)))
    .selectAll()
    .executeTakeFirstOrThrow(notFound);
  return c.json(showModel(services, row, person), 200);
};

const changeModelRoute = changeRoute("put", forAdmins, newModel, model, "El modelo, cambiado.");
const changeModel: RouteHandler<typeof changeModelRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const before = await findModel(services.db, c.req.valid("param").id);
  refuseStale(c, before, showModel(services, before, person));
  const given = c.req.valid("json");
  await checkGroupIds(services.db, given.groupIds, parseGroupIds(before));
  const after = { ...before, ...toColumns(services, before.id, given, before.apiKey), updatedAt: Date.now() };
  // A key must not follow its model to another server.
  if (before.apiKey && !given.apiKey && (after.baseUrl !== before.baseUrl || after.provider !== before.provider)) {
    throw invalid("apiKey", "Al cambiar la dirección hay que escribir la clave otra vez.");
  }
  await services.db.transaction().execute(async (trx) => {
    if (after.isDefault) await clearDefault(trx);
    const { numUpdatedRows } = await trx
      .updateTable("models")
      .set(after)
      .where("id", "=", after.id)
      .$call(ifUnchanged(c, before))
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw stale(showModel(services, await findModel(trx, after.id), person));
    const changes = { before: showModel(services, before, person), after: showModel(services, after, person) };
    await recordAudit(trx, c, "update", "model", after.id, { changes });
  });
  return c.json(showModel(services, after, person), 200);
};

const deleteModelRoute = deletionRoute(forAdmins, "El modelo ya no existe.");
const deleteModel: RouteHandler<typeof deleteModelRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const row = await findModel(services.db, c.req.valid("param").id);
  await services.db.transaction().execute(async (trx) => {
    await trx.deleteFrom("models").where("id", "=", row.id).execute();
    await recordAudit(trx, c, "delete", "model", row.id, { changes: { before: showModel(services, row, person) } });
  });
  return c.body(null, 204);
};

export const models = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(listModelsRoute, listModels)
  .openapi(createModelRoute, createModel)
  .openapi(readModelRoute, readModel)
  .openapi(changeModelRoute, changeModel)
  .openapi(deleteModelRoute, deleteModel);

async function findModel(db: Db, id: string): Promise<ModelRow> {
  return db.selectFrom("models").where("id", "=", id).selectAll().executeTakeFirstOrThrow(notFound);
}

const clearDefault = (db: Db) => db.updateTable("models").set({ isDefault: 0 }).where("isDefault", "=", 1).execute();
