import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import { memoriesAtMost, memoryTool } from "../../db/people/memories.server.ts";
import type { MemoryRow } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import { keepMemory, remembered } from "../../tools/builtin/memory.server.ts";
import type { ApiEnv, Person, Services } from "../env.server.ts";
import { active, noProgram, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, invalid, notFound } from "../http/problem.server.ts";
import { answers, bearer, id, idParam, line, rowFields, takes, timesOf } from "../http/schemas.server.ts";
import { refuseStale, stale } from "../http/stored-rows.server.ts";
import { writesInProject } from "../http/visibility.server.ts";
import { refuseOnHold } from "../retention/holds.server.ts";

const memory = z
  .object({
    ...rowFields,
    text: z.string(),
    projectId: z.string().nullable().openapi({ description: "Solo en las conversaciones de ese proyecto." }),
    chatId: z.string().nullable().openapi({ description: "La conversación de la que viene." }),
  })
  .openapi("Memory");
const memoryList = z.object({
  on: z.boolean().openapi({ description: "Si la persona quiere que los modelos la recuerden." }),
  available: z.boolean().openapi({ description: "Si la casa lo permite." }),
  items: z.array(memory),
});

const common = { security: bearer, middleware: [signedIn, active] };
// Only the person, not a program, changes what is remembered.
const forPeople = { ...common, middleware: [signedIn, noProgram, active] };
const text = line("La frase", limits.memory, 1);

const listMemoriesRoute = createRoute({
  method: "get",
  path: "/",
  ...common,
  responses: { 200: answers(memoryList, "Lo que se recuerda de la persona, lo más antiguo primero.") },
});
const listMemories: RouteHandler<typeof listMemoriesRoute, ApiEnv> = async (c) =>
  c.json(await shown(c.var.services, c.var.person), 200);

const switchMemoryRoute = createRoute({
  method: "put",
  path: "/choice",
  ...forPeople,
  request: { body: takes(z.strictObject({ on: z.boolean() })) },
  responses: { 200: answers(memoryList, "Encendida o apagada. Apagada, lo que hay se queda y nadie lo lee.") },
});
const switchMemory: RouteHandler<typeof switchMemoryRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const remembers = c.req.valid("json").on ? 1 : 0;
  await services.db.updateTable("users").set({ remembers }).where("id", "=", person.id).execute();
  return c.json(await shown(services, person), 200);
};

const createMemoryRoute = createRoute({
  method: "post",
  path: "/",
  ...forPeople,
  request: { body: takes(z.strictObject({ text, projectId: id.nullable().default(null) })) },
  responses: { 201: answers(memoryList, "La frase, con las demás.") },
});
const createMemory: RouteHandler<typeof createMemoryRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const given = c.req.valid("json");
  if (given.projectId && !(await writesInProject(services, person, given.projectId))) {
    throw invalid("projectId", "Ese proyecto no existe.");
  }
  const kept = await keepMemory(services.db, {
    ...{ userId: person.id, chatId: null, projectId: given.projectId },
    text: remembered(given.text),
  });
  if (!kept) throw invalid("text", `Ya se recuerdan ${memoriesAtMost} frases. Elimina alguna.`);
  return c.json(await shown(services, person), 201);
};

const changeMemoryRoute = createRoute({
  method: "patch",
  path: "/{id}",
  ...forPeople,
  request: { params: idParam, body: takes(z.strictObject({ text })) },
  responses: { 200: answers(memory, "La frase, cambiada.") },
});
const changeMemory: RouteHandler<typeof changeMemoryRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const before = await findOwn(services, person, c.req.valid("param").id);
  await refuseOnHold(services.db, person, person.id);
  refuseStale(c, before, showMemory(before));
  const changed = await services.db
    .updateTable("memories")
    .set({ text: remembered(c.req.valid("json").text), updatedAt: Math.max(Date.now(), before.updatedAt + 1) })
    .where("id", "=", before.id)
    .where("updatedAt", "=", before.updatedAt)
    .returningAll()
    .executeTakeFirst();
  if (!changed) throw stale(showMemory(await findOwn(services, person, before.id)));
  return c.json(showMemory(changed), 200);
};

const deleteMemoryRoute = createRoute({
  method: "delete",
  path: "/{id}",
  ...forPeople,
  request: { params: idParam },
  responses: { 204: { description: "Ya no se recuerda." } },
});
const deleteMemory: RouteHandler<typeof deleteMemoryRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const row = await findOwn(services, person, c.req.valid("param").id);
  await refuseOnHold(services.db, person, person.id);
  await services.db.deleteFrom("memories").where("id", "=", row.id).execute();
  return c.body(null, 204);
};

/** Sentences about a person that models are given: private, and written by the person or with the person's consent. */
export const memories = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(listMemoriesRoute, listMemories)
  .openapi(switchMemoryRoute, switchMemory)
  .openapi(createMemoryRoute, createMemory)
  .openapi(changeMemoryRoute, changeMemory)
  .openapi(deleteMemoryRoute, deleteMemory);

/** Throws 404. */
const findOwn = ({ db }: Services, { id: userId }: Person, memoryId: string): Promise<MemoryRow> =>
  db
    .selectFrom("memories")
    .where("id", "=", memoryId)
    .where("userId", "=", userId)
    .selectAll()
    .executeTakeFirstOrThrow(notFound);

const showMemory = ({ userId: _, ...row }: MemoryRow): z.output<typeof memory> => ({ ...row, ...timesOf(row) });

async function shown({ db }: Services, { id: userId }: Person): Promise<z.output<typeof memoryList>> {
  const [choice, tool, rows] = await Promise.all([
    db.selectFrom("users").where("id", "=", userId).select("remembers").executeTakeFirst(),
    memoryTool(db, userId).executeTakeFirst(),
    db.selectFrom("memories").where("userId", "=", userId).orderBy("id").selectAll().execute(),
  ]);
  return { on: Number(choice?.remembers) === 1, available: tool !== undefined, items: rows.map(showMemory) };
}
