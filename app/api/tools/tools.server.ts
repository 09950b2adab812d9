import { OpenAPIHono, type RouteHandler } from "@hono/zod-openapi";
import type { ExpressionBuilder } from "kysely";
import { v7 as newId } from "uuid";
import type { Db } from "../../db/connection.server.ts";
import { forGroupsOf } from "../../db/groups.server.ts";
import type { Tables, ToolRow } from "../../db/tables.ts";
import { ToolRefused } from "../../tools/tool.server.ts";
import { settingsOf } from "../../tools/toolbox.server.ts";
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
import { type NewTool, newTool, showTool, toColumns, tool } from "./tool-fields.server.ts";

const common = { security: bearer, middleware: [signedIn, active] };
const forAdmins = { security: bearer, middleware: [signedIn, noProgram, admin, publishes("tool")] };

/** Condition on tools: somebody who does not administer may use them. */
const isOffered = (userId: string) => (e: ExpressionBuilder<Tables, "tools">) =>
  e.and([e("tools.enabled", "=", 1), e("tools.allowed", "=", "everyone"), forGroupsOf("tools", userId)]);

const listToolsRoute = listRoute(
  common,
  tool,
  "Las herramientas que la persona puede usar; para administradores, todas.",
);
const listTools: RouteHandler<typeof listToolsRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const query = c.req.valid("query");
  const visible = services.db
    .selectFrom("tools")
    .selectAll("tools")
    .$if(person.role !== "admin", (q) => q.where(isOffered(person.id)))
    .where(contains("tools.name", query.q));
  const { rows, ...rest } = await listPage(services.db, visible, query, {
    table: "tools",
    sortable: [
      { column: "position", direction: "asc" },
      { column: "name", direction: "asc" },
    ],
    filters: { kind: "text", enabled: "flag", allowed: "text" },
  });
  return c.json({ items: rows.map((row) => showTool(services, row, person)), ...rest }, 200);
};

const createToolRoute = creationRoute(forAdmins, newTool, tool, "La herramienta nueva.");
const createTool: RouteHandler<typeof createToolRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const id = newId();
  const now = Date.now();
  const given = c.req.valid("json");
  refuseWithoutAddress(given, false);
  await checkGroupIds(services.db, given.groupIds);
  const row: ToolRow = {
    id,
    createdAt: now,
    updatedAt: now,
    ...toColumns(services, id, given),
    listed: "[]",
    listedAt: null,
    problem: null,
  };
  await services.db.transaction().execute(async (trx) => {
    await trx.insertInto("tools").values(row).execute();
    await recordAudit(trx, c, "create", "tool", id, { changes: { after: showTool(services, row, person) } });
  });
  return c.json(showTool(services, await asked(services, row), person), 201);
};

const readToolRoute = itemRoute(common, tool, "La herramienta.");
const readTool: RouteHandler<typeof readToolRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const row = await services.db
    .selectFrom("tools")
    .where("id", "=", c.req.valid("param").id)
    .$if(person.role !== "admin", (q) => q.where(isOffered(person.id)))
    .selectAll()
    .executeTakeFirstOrThrow(notFound);
  return c.json(showTool(services, row, person), 200);
};

const changeToolRoute = changeRoute("put", forAdmins, newTool, tool, "La herramienta, cambiada.");
const changeTool: RouteHandler<typeof changeToolRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const before = await findTool(services.db, c.req.valid("param").id);
  refuseStale(c, before, showTool(services, before, person));
  const given = c.req.valid("json");
  refuseWithoutAddress(given, settingsOf(before).program !== undefined);
  await checkGroupIds(services.db, given.groupIds, parseGroupIds(before));
  const moved = given.address !== before.address || given.kind !== before.kind;
  // A secret must not follow its tool to another server.
  if (before.secret && !given.secret && moved) {
    throw invalid("secret", "Al cambiar la dirección hay que escribir la clave otra vez.");
  }
  const left = moved ? { listed: "[]", listedAt: null, problem: null } : {};
  const kept = moved ? { ...before, access: null } : before;
  const after = { ...before, ...toColumns(services, before.id, given, kept), ...left, updatedAt: Date.now() };
  await services.db.transaction().execute(async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable("tools")
      .set(after)
      .where("id", "=", after.id)
      .$call(ifUnchanged(c, before))
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw stale(showTool(services, await findTool(trx, after.id), person));
    const changes = { before: showTool(services, before, person), after: showTool(services, after, person) };
    await recordAudit(trx, c, "update", "tool", after.id, { changes });
  });
  const isAskedAgain = moved || given.secret;
  return c.json(showTool(services, isAskedAgain ? await asked(services, after) : after, person), 200);
};

const deleteToolRoute = deletionRoute(forAdmins, "La herramienta ya no existe.");
const deleteTool: RouteHandler<typeof deleteToolRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const row = await findTool(services.db, c.req.valid("param").id);
  await services.db.transaction().execute(async (trx) => {
    await trx.deleteFrom("tools").where("id", "=", row.id).execute();
    await recordAudit(trx, c, "delete", "tool", row.id, { changes: { before: showTool(services, row, person) } });
  });
  return c.body(null, 204);
};

/** Where models get their tools from: servers (MCP), search engines, and what is built in. */
export const tools = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(listToolsRoute, listTools)
  .openapi(createToolRoute, createTool)
  .openapi(readToolRoute, readTool)
  .openapi(changeToolRoute, changeTool)
  .openapi(deleteToolRoute, deleteTool);

export async function findTool(db: Db, id: string): Promise<ToolRow> {
  return db.selectFrom("tools").where("id", "=", id).selectAll().executeTakeFirstOrThrow(notFound);
}

/** The row after its server was asked what tools it has; that it can't say is told in the row. */
async function asked({ db, toolbox }: Services, row: ToolRow): Promise<ToolRow> {
  try {
    await toolbox.refresh(row);
  } catch (error) {
    if (!(error instanceof ToolRefused)) throw error;
  }
  return findTool(db, row.id);
}

function refuseWithoutAddress({ kind, address }: NewTool, isProgram: boolean): void {
  if (kind === "mcp" && !address && !isProgram) throw invalid("address", "Falta la dirección del servidor MCP.");
  if (kind === "searxng" && !address) throw invalid("address", "Falta la dirección de SearXNG.");
}
