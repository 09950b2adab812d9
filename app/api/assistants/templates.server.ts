import { OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import { v7 as newId } from "uuid";
import type { Db } from "../../db/connection.server.ts";
import type { TemplateRow } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import type { ApiEnv, Person } from "../env.server.ts";
import { auditOthers } from "../http/audit.server.ts";
import { active, isAdmin, signedIn } from "../http/authentication.server.ts";
import { contains, listPage } from "../http/list.server.ts";
import { ifUnchanged, refuseStale, stale } from "../http/optimistic-lock.server.ts";
import { answerInvalid, invalid, notFound } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { changeRoute, creationRoute, deletionRoute, itemRoute, listRoute } from "../http/resource-routes.server.ts";
import { bearer, flag, line, rowFields, text, timesOf } from "../http/schemas.server.ts";

const template = z
  .object({
    ...rowFields,
    userId: z.string(),
    title: z.string(),
    content: z.string().openapi({ description: "Con huecos como {{ciudad}}." }),
    shared: z.boolean().openapi({ description: "Si la usan todos." }),
    mayChange: z.boolean(),
  })
  .openapi("Template");

const newTemplate = z.strictObject({
  title: line("El título", limits.chatTitle, 1),
  content: text("El texto", limits.templateContent, 1),
  shared: flag.default(false),
});

const mayChange = (row: Pick<TemplateRow, "userId" | "shared">, person: Person) =>
  row.userId === person.id || (isAdmin(person) && row.shared === 1);

const showTemplate = (row: TemplateRow, person: Person): z.output<typeof template> => ({
  ...row,
  ...timesOf(row),
  shared: row.shared === 1,
  mayChange: mayChange(row, person),
});

const common = { security: bearer, middleware: [signedIn, active, publishes("template")] };

const listTemplatesRoute = listRoute(common, template, "Las plantillas de la persona y las de todos.");
const listTemplates: RouteHandler<typeof listTemplatesRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const query = c.req.valid("query");
  const visible = services.db
    .selectFrom("templates")
    .selectAll("templates")
    .where((e) => e.or([e("templates.userId", "=", person.id), e("templates.shared", "=", 1)]))
    .where(contains("templates.title", query.q));
  const { rows, ...rest } = await listPage(services.db, visible, query, {
    table: "templates",
    sortable: [
      { column: "title", direction: "asc" },
      { column: "updatedAt", direction: "desc" },
    ],
    filters: { shared: "flag", userId: "text" },
  });
  return c.json({ items: rows.map((row) => showTemplate(row, person)), ...rest }, 200);
};

const createTemplateRoute = creationRoute(common, newTemplate, template, "La plantilla nueva.");
const createTemplate: RouteHandler<typeof createTemplateRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const now = Date.now();
  const row = {
    id: newId(),
    createdAt: now,
    updatedAt: now,
    userId: person.id,
    ...toColumns(person, c.req.valid("json")),
  };
  await services.db.insertInto("templates").values(row).execute();
  return c.json(showTemplate(row, person), 201);
};

const readTemplateRoute = itemRoute(common, template, "La plantilla.");
const readTemplate: RouteHandler<typeof readTemplateRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  return c.json(showTemplate(await findTemplate(services.db, person, c.req.valid("param").id), person), 200);
};

const changeTemplateRoute = changeRoute("put", common, newTemplate, template, "La plantilla, cambiada.");
const changeTemplate: RouteHandler<typeof changeTemplateRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const before = await findOwn(services.db, person, c.req.valid("param").id);
  refuseStale(c, before, showTemplate(before, person));
  const after = { ...before, ...toColumns(person, c.req.valid("json")), updatedAt: Date.now() };
  await services.db.transaction().execute(async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable("templates")
      .set(after)
      .where("id", "=", before.id)
      .$call(ifUnchanged(c, before))
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw stale(showTemplate(await findOwn(trx, person, before.id), person));
    const changes = { before: showTemplate(before, person), after: showTemplate(after, person) };
    await auditOthers(trx, c, before.userId, "update", "template", before.id, changes);
  });
  return c.json(showTemplate(after, person), 200);
};

const deleteTemplateRoute = deletionRoute(common, "La plantilla ya no existe.");
const deleteTemplate: RouteHandler<typeof deleteTemplateRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const row = await findOwn(services.db, person, c.req.valid("param").id);
  await services.db.transaction().execute(async (trx) => {
    await trx.deleteFrom("templates").where("id", "=", row.id).execute();
    await auditOthers(trx, c, row.userId, "delete", "template", row.id, { before: showTemplate(row, person) });
  });
  return c.body(null, 204);
};

/** Texts to begin a message with: a person's own, and those that an admin has made for all. */
export const templates = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(listTemplatesRoute, listTemplates)
  .openapi(createTemplateRoute, createTemplate)
  .openapi(readTemplateRoute, readTemplate)
  .openapi(changeTemplateRoute, changeTemplate)
  .openapi(deleteTemplateRoute, deleteTemplate);

async function findTemplate(db: Db, person: Person, templateId: string): Promise<TemplateRow> {
  return db
    .selectFrom("templates")
    .where("id", "=", templateId)
    .where((e) => e.or([e("userId", "=", person.id), e("shared", "=", 1)]))
    .selectAll()
    .executeTakeFirstOrThrow(notFound);
}

/** One that the person may change. Throws 404. */
async function findOwn(db: Db, person: Person, templateId: string): Promise<TemplateRow> {
  const row = await findTemplate(db, person, templateId);
  if (!mayChange(row, person)) throw notFound();
  return row;
}

function toColumns(person: Person, { shared, ...given }: z.output<typeof newTemplate>) {
  if (shared && !isAdmin(person)) throw invalid("shared", "Solo quien administra hace plantillas para todos.");
  return { ...given, shared: shared ? (1 as const) : (0 as const) };
}
