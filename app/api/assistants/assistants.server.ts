import { OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import type { ExpressionBuilder } from "kysely";
import { v7 as newId } from "uuid";
import type { Db } from "../../db/connection.server.ts";
import { usableBy } from "../../db/groups.server.ts";
import type { AssistantRow, Tables } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import type { ApiEnv, Person, Services } from "../env.server.ts";
import { checkGroupIds, groupIds, groupIdsColumn, parseGroupIds, shownGroupIds } from "../groups/group-ids.server.ts";
import { maySeeFile } from "../http/access.server.ts";
import { auditOthers } from "../http/audit.server.ts";
import { active, isAdmin, signedIn } from "../http/authentication.server.ts";
import { contains, listPage } from "../http/list.server.ts";
import { ifUnchanged, refuseStale, stale } from "../http/optimistic-lock.server.ts";
import { answerInvalid, invalid, notFound } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { changeRoute, creationRoute, deletionRoute, itemRoute, listRoute } from "../http/resource-routes.server.ts";
import { bearer, flag, id, line, rowFields, text, timesOf } from "../http/schemas.server.ts";

const assistant = z
  .object({
    ...rowFields,
    userId: z.string(),
    name: z.string(),
    purpose: z.string(),
    instructions: z.string().openapi({ description: "De uno compartido solo las ve quien puede cambiarlo." }),
    modelId: z.string().nullable(),
    temperature: z.number().nullable(),
    toolIds: z.array(z.string()).nullable().openapi({ description: "Las herramientas que puede usar; null: todas." }),
    fileIds: z.array(z.string()).openapi({ description: "Los documentos en los que busca." }),
    beginnings: z.array(z.string()),
    shared: z.boolean().openapi({ description: "Si lo usan todos." }),
    groupIds: shownGroupIds.openapi({ description: "De uno compartido, para qué grupos." }),
    version: z.number(),
    mayChange: z.boolean(),
  })
  .openapi("Assistant");

const newAssistant = z.strictObject({
  name: line("El nombre", limits.name, 1),
  purpose: text("Para qué es", limits.assistantPurpose).default(""),
  instructions: text("Las instrucciones", limits.projectInstructions).default(""),
  modelId: id.nullable().default(null),
  temperature: z
    .number("La temperatura tiene que ser un número.")
    .min(0, "La temperatura va de 0 a 2.")
    .max(2, "La temperatura va de 0 a 2.")
    .nullable()
    .default(null),
  toolIds: z
    .array(id, "toolIds tiene que ser una lista.")
    .max(200, "Son demasiadas herramientas.")
    .nullable()
    .default(null),
  fileIds: z
    .array(id, "fileIds tiene que ser una lista.")
    .max(limits.assistantFiles, `Un asistente busca en ${limits.assistantFiles} documentos como mucho.`)
    .default([]),
  beginnings: z
    .array(text("Un comienzo", limits.assistantBeginning, 1), "beginnings tiene que ser una lista.")
    .max(limits.assistantBeginnings, `Son ${limits.assistantBeginnings} comienzos como mucho.`)
    .default([]),
  shared: flag.default(false),
  groupIds,
});

const mayChange = (row: Pick<AssistantRow, "userId" | "shared">, person: Person) =>
  row.userId === person.id || (isAdmin(person) && row.shared === 1);

function showAssistant(row: AssistantRow, person: Person): z.output<typeof assistant> {
  const changes = mayChange(row, person);
  return {
    ...row,
    ...timesOf(row),
    instructions: changes ? row.instructions : "",
    toolIds: row.toolIds === null ? null : (JSON.parse(row.toolIds) as string[]),
    fileIds: changes ? (JSON.parse(row.fileIds) as string[]) : [],
    beginnings: JSON.parse(row.beginnings) as string[],
    shared: row.shared === 1,
    groupIds: changes ? parseGroupIds(row) : null,
    mayChange: changes,
  };
}

/** Condition on assistants: a person's own, and the shared ones of their groups; who administers uses, and changes, all of these. */
const isUsable = (userId: string) => (e: ExpressionBuilder<Tables, "assistants">) =>
  e.or([e("assistants.userId", "=", userId), e.and([e("assistants.shared", "=", 1), usableBy("assistants", userId)])]);

const common = { security: bearer, middleware: [signedIn, active, publishes("assistant")] };

const listAssistantsRoute = listRoute(common, assistant, "Los asistentes de la persona y los de todos.");
const listAssistants: RouteHandler<typeof listAssistantsRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const query = c.req.valid("query");
  const visible = services.db
    .selectFrom("assistants")
    .selectAll("assistants")
    .where(isUsable(person.id))
    .where(contains("assistants.name", query.q));
  const { rows, ...rest } = await listPage(services.db, visible, query, {
    table: "assistants",
    sortable: [
      { column: "name", direction: "asc" },
      { column: "updatedAt", direction: "desc" },
    ],
    filters: { shared: "flag", userId: "text" },
  });
  return c.json({ items: rows.map((row) => showAssistant(row, person)), ...rest }, 200);
};

const createAssistantRoute = creationRoute(common, newAssistant, assistant, "El asistente nuevo.");
const createAssistant: RouteHandler<typeof createAssistantRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const given = c.req.valid("json");
  await check(services, person, person.id, given);
  const now = Date.now();
  const row = { id: newId(), createdAt: now, updatedAt: now, userId: person.id, version: 1, ...toColumns(given) };
  await services.db.insertInto("assistants").values(row).execute();
  return c.json(showAssistant(row, person), 201);
};

const readAssistantRoute = itemRoute(common, assistant, "El asistente.");
const readAssistant: RouteHandler<typeof readAssistantRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  return c.json(showAssistant(await findAssistant(services.db, person, c.req.valid("param").id), person), 200);
};

const changeAssistantRoute = changeRoute("put", common, newAssistant, assistant, "El asistente, cambiado.");
const changeAssistant: RouteHandler<typeof changeAssistantRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const before = await findOwn(services.db, person, c.req.valid("param").id);
  refuseStale(c, before, showAssistant(before, person));
  const given = c.req.valid("json");
  await check(services, person, before.userId, given, before);
  const after = { ...before, ...toColumns(given), version: before.version + 1, updatedAt: Date.now() };
  await services.db.transaction().execute(async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable("assistants")
      .set(after)
      .where("id", "=", before.id)
      .$call(ifUnchanged(c, before))
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw stale(showAssistant(await findOwn(trx, person, before.id), person));
    const changes = { before: showAssistant(before, person), after: showAssistant(after, person) };
    await auditOthers(trx, c, before.userId, "update", "assistant", before.id, changes);
  });
  return c.json(showAssistant(after, person), 200);
};

const deleteAssistantRoute = deletionRoute(common, "El asistente ya no existe; los chats con él siguen con su modelo.");
const deleteAssistant: RouteHandler<typeof deleteAssistantRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const row = await findOwn(services.db, person, c.req.valid("param").id);
  await services.db.transaction().execute(async (trx) => {
    await trx.deleteFrom("assistants").where("id", "=", row.id).execute();
    await auditOthers(trx, c, row.userId, "delete", "assistant", row.id, { before: showAssistant(row, person) });
  });
  return c.body(null, 204);
};

/** What people make of models for their purposes: their own, and those that an admin has made for all. */
export const assistants = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(listAssistantsRoute, listAssistants)
  .openapi(createAssistantRoute, createAssistant)
  .openapi(readAssistantRoute, readAssistant)
  .openapi(changeAssistantRoute, changeAssistant)
  .openapi(deleteAssistantRoute, deleteAssistant);

/** An assistant that the person may use. Throws 404. */
export async function findAssistant(db: Db, person: Pick<Person, "id">, assistantId: string): Promise<AssistantRow> {
  return db
    .selectFrom("assistants")
    .where("id", "=", assistantId)
    .where(isUsable(person.id))
    .selectAll()
    .executeTakeFirstOrThrow(notFound);
}

/** One that the person may change. Throws 404. */
async function findOwn(db: Db, person: Person, assistantId: string): Promise<AssistantRow> {
  const row = await findAssistant(db, person, assistantId);
  if (!mayChange(row, person)) throw notFound();
  return row;
}

async function check(
  { db }: Services,
  person: Person,
  ownerId: string,
  { shared, modelId, fileIds, groupIds: forGroups }: z.output<typeof newAssistant>,
  before?: AssistantRow,
): Promise<void> {
  await checkGroupIds(db, forGroups, before && parseGroupIds(before));
  if (shared && !isAdmin(person)) throw invalid("shared", "Solo quien administra hace asistentes para todos.");
  if (modelId) {
    const model = await db.selectFrom("models").where("id", "=", modelId).select("id").executeTakeFirst();
    if (!model) throw invalid("modelId", "Ese modelo no existe.");
  }
  const files = await db
    .selectFrom("files")
    .where("id", "in", [...fileIds, ""])
    .where("userId", "=", ownerId)
    .where("sessionId", "is", null)
    // An administrator who changes another's assistant adds no file that only the other may read.
    .where((e) =>
      e.or([e("id", "in", ["", ...(before ? (JSON.parse(before.fileIds) as string[]) : [])]), maySeeFile(person)(e)]),
    )
    .select("id")
    .execute();
  if (files.length < new Set(fileIds).size) throw invalid("fileIds", "Alguno de esos documentos ya no existe.");
}

const toColumns = ({
  toolIds,
  fileIds,
  beginnings,
  shared,
  groupIds: forGroups,
  ...given
}: z.output<typeof newAssistant>) => ({
  ...given,
  toolIds: toolIds && JSON.stringify(toolIds),
  fileIds: JSON.stringify(fileIds),
  beginnings: JSON.stringify(beginnings),
  shared: shared ? (1 as const) : (0 as const),
  groupIds: groupIdsColumn(forGroups),
});
