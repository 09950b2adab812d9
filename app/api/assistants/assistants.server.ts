import { z } from "@hono/zod-openapi";
import { type ExpressionBuilder, expressionBuilder } from "kysely";
import type { Db } from "../../db/engine.server.ts";
import { usableBy } from "../../db/people/groups.server.ts";
import type { AssistantRow, Tables } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import { textsIn } from "../../process/text/json.ts";
import type { Person, Services } from "../env.server.ts";
import { checkGroupIds, groupIds, parseGroupIds, shownGroupIds } from "../groups/group-ids.server.ts";
import { isAdmin } from "../http/authentication.server.ts";
import { invalid, notFound } from "../http/problem.server.ts";
import type { Asked, Resource } from "../http/resource.server.ts";
import { flag, flagsOf, id, line, rowFields, text, timesOf } from "../http/schemas.server.ts";
import { maySeeFile } from "../http/visibility.server.ts";
import { mayChange } from "./own-or-shared.server.ts";

const e = expressionBuilder<Tables, "assistants">();

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

/** An assistant as the API shows it to this person. */
function show(row: AssistantRow, { person }: Pick<Asked, "person">): z.output<typeof assistant> {
  const changes = mayChange(row, person);
  return {
    ...row,
    ...timesOf(row),
    ...flagsOf(row, "shared"),
    instructions: changes ? row.instructions : "",
    toolIds: row.toolIds === null ? null : textsIn(row.toolIds),
    fileIds: changes ? textsIn(row.fileIds) : [],
    beginnings: textsIn(row.beginnings),
    groupIds: changes ? parseGroupIds(row) : null,
    mayChange: changes,
  };
}

/** Condition: a person's own assistants, and the shared assistants of their groups; administrators use, and change, all shared ones. */
const isUsable = (userId: string) => (e: ExpressionBuilder<Tables, "assistants">) =>
  e.or([e("assistants.userId", "=", userId), e.and([e("assistants.shared", "=", 1), usableBy("assistants", userId)])]);

/** Models prepared for a purpose: a person's own, and those that an administrator has made for all. */
export const assistants: Resource<"assistants", typeof assistant, typeof newAssistant> = {
  table: "assistants",
  name: "assistant",
  shown: assistant,
  body: newAssistant,
  show,
  async columns(given, { services, person, before }) {
    const userId = before?.userId ?? person.id;
    await check(services, person, userId, given, before);
    return { ...given, userId, version: (before?.version ?? 0) + 1 };
  },
  sees: ({ id: userId }) => isUsable(userId)(e),
  mayChange,
  list: {
    searched: ["name"],
    sortable: [
      { text: "name", direction: "asc" },
      { number: "updatedAt", direction: "desc" },
    ],
    filters: { shared: "flag", userId: "text" },
  },
  says: {
    list: "Los asistentes de la persona y los de todos.",
    item: "El asistente.",
    created: "El asistente nuevo.",
    changed: "El asistente, cambiado.",
    deleted: "El asistente ya no existe; los chats con él siguen con su modelo.",
  },
};

/** An assistant that the person may use. Throws 404. */
export async function findAssistant(db: Db, person: Pick<Person, "id">, assistantId: string): Promise<AssistantRow> {
  return db
    .selectFrom("assistants")
    .where("id", "=", assistantId)
    .where(isUsable(person.id))
    .selectAll()
    .executeTakeFirstOrThrow(notFound);
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
    .where((e) => e.or([e("id", "in", ["", ...(before ? textsIn(before.fileIds) : [])]), maySeeFile(person)(e)]))
    .select("id")
    .execute();
  if (files.length < new Set(fileIds).size) throw invalid("fileIds", "Alguno de esos documentos ya no existe.");
}
