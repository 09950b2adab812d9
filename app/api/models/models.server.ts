import { expressionBuilder, sql } from "kysely";
import type { Db } from "../../db/engine.server.ts";
import { usableBy } from "../../db/people/groups.server.ts";
import { prepared } from "../../db/prepared.server.ts";
import type { AssistantRow, ModelRow, Tables } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import type { Services } from "../env.server.ts";
import { checkGroupIds, parseGroupIds } from "../groups/group-ids.server.ts";
import { isAdmin } from "../http/authentication.server.ts";
import { invalid } from "../http/problem.server.ts";
import { everything, type Resource } from "../http/resource.server.ts";
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

/** The model that a chat used last, and the assistant of the chat, if the owner of the chat may still use that assistant. */
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

const e = expressionBuilder<Tables, "models">();

/** Models that an administrator sets up; other people read the enabled ones of their groups. */
export const models: Resource<"models", typeof model, typeof newModel> = {
  table: "models",
  name: "model",
  shown: model,
  body: newModel,
  show: (row, { services, person }) => showModel(services, row, person),
  async columns(given, { services, id, before }) {
    await checkGroupIds(services.db, given.groupIds, before && parseGroupIds(before));
    const columns = toColumns(services, id, given, { oldKey: before?.apiKey ?? null, isNew: !before });
    // A key must not follow its model to another server.
    if (before?.apiKey && !given.apiKey && (columns.baseUrl !== before.baseUrl || given.provider !== before.provider)) {
      throw invalid("apiKey", "Al cambiar la dirección hay que escribir la clave otra vez.");
    }
    return columns;
  },
  serially: true,
  async inTransaction(trx, { id, isDefault, fallbackId }) {
    await checkFallback(trx, id, fallbackId);
    if (!isDefault) return;
    await trx.updateTable("models").set({ isDefault: 0 }).where("isDefault", "=", 1).where("id", "!=", id).execute();
  },
  sees: (person) =>
    isAdmin(person) ? everything : e.and([e("models.enabled", "=", 1), usableBy("models", person.id)]),
  list: {
    searched: ["name"],
    sortable: [
      { number: "position", direction: "asc" },
      { text: "name", direction: "asc" },
      { text: "provider", direction: "asc" },
      { text: "externalId", direction: "asc" },
      { number: "contextWindow", direction: "desc" },
      { number: "enabled", direction: "desc" },
      { number: "isDefault", direction: "desc" },
      { number: "acceptsImages", direction: "desc" },
      { number: "inputPrice", direction: "desc", mayBeEmpty: true },
      { number: "outputPrice", direction: "desc", mayBeEmpty: true },
    ],
    filters: { provider: "text", enabled: "flag", isDefault: "flag" },
  },
  says: {
    list: "Los modelos disponibles; para administradores, todos.",
    item: "El modelo.",
    created: "El modelo nuevo.",
    changed: "El modelo, cambiado.",
    deleted: "El modelo ya no existe.",
  },
};

/**
 * Throws 422 if the fallback does not exist, or is the model itself. In the transaction of the write: the reference is deferred, so a
 * missing model would fail the commit.
 */
async function checkFallback(db: Db, id: string, fallbackId: string | null): Promise<void> {
  if (fallbackId === null) return;
  if (fallbackId === id) throw invalid("fallbackId", "Un modelo no puede seguir por sí mismo. Elige otro.");
  const found = await db.selectFrom("models").where("id", "=", fallbackId).select("id").executeTakeFirst();
  if (!found) throw invalid("fallbackId", "Ese modelo no existe.");
}
