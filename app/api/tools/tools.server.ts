import { type ExpressionBuilder, expressionBuilder } from "kysely";
import type { Db } from "../../db/engine.server.ts";
import { forGroupsOf } from "../../db/people/groups.server.ts";
import type { Tables, ToolRow } from "../../db/tables.ts";
import { isPersonal, settingsOf } from "../../tools/accounts.server.ts";
import type { Person, Services } from "../env.server.ts";
import { checkGroupIds, parseGroupIds } from "../groups/group-ids.server.ts";
import { isAdmin } from "../http/authentication.server.ts";
import { invalid, notFound } from "../http/problem.server.ts";
import { everything, type Resource } from "../http/resource.server.ts";
import { type NewTool, newTool, showTool, toColumns, tool } from "./tool-fields.server.ts";
import { unlessRefused } from "./tool-sign-ins.server.ts";

const e = expressionBuilder<Tables, "tools">();

/** Condition on tools: somebody who does not administer may use them. */
const isOffered = (userId: string) => (e: ExpressionBuilder<Tables, "tools">) =>
  e.and([e("tools.enabled", "=", 1), e("tools.allowed", "=", "everyone"), forGroupsOf("tools", userId)]);

/** Condition on tools: a person may use them. */
export const usableBy = (person: Person) => (isAdmin(person) ? everything : isOffered(person.id)(e));

/** Servers, search engines and built-in sources of the tools that models are offered. */
export const tools: Resource<"tools", typeof tool, typeof newTool> = {
  table: "tools",
  name: "tool",
  shown: tool,
  body: newTool,
  show: (row, { services, person }) => showTool(services, row, person),
  async columns(given, { services, id, before }) {
    refuseWithoutServer(given, before !== undefined && settingsOf(before).program !== undefined);
    await checkGroupIds(services.db, given.groupIds, before && parseGroupIds(before));
    const moved = isMoved(before, given);
    // A secret must not follow its tool to another server.
    if (before?.secret && !given.secret && moved) {
      throw invalid("secret", "Al cambiar la dirección hay que escribir la clave otra vez.");
    }
    return {
      ...toColumns(services, id, given, before && moved ? { ...before, access: null } : before),
      listed: before && !moved ? before.listed : "[]",
      listedAt: before && !moved ? before.listedAt : null,
      problem: before && !moved ? before.problem : null,
    };
  },
  async inTransaction(trx, row, before) {
    // Consent that people have given at one address is not for another.
    if (isMoved(before, row) || !isPersonal(row))
      await trx.deleteFrom("toolAccounts").where("toolId", "=", row.id).execute();
  },
  // A server that is new, or has another address or secret, is asked what tools it has.
  afterCommit: (row, { services, before }) =>
    !isPersonal(row) && (isMoved(before, row) || row.secret !== before?.secret) ? asked(services, row) : row,
  sees: usableBy,
  list: {
    searched: ["name"],
    sortable: [
      { number: "position", direction: "asc" },
      { text: "name", direction: "asc" },
      { text: "kind", direction: "asc" },
      { text: "address", direction: "asc", mayBeEmpty: true },
      { text: "allowed", direction: "asc" },
      { number: "enabled", direction: "desc" },
      { text: "problem", direction: "asc", mayBeEmpty: true },
      { number: "seconds", direction: "desc" },
      { number: "kilobytes", direction: "desc" },
    ],
    filters: { kind: "text", enabled: "flag", allowed: "text" },
  },
  says: {
    list: "Las herramientas que la persona puede usar; para administradores, todas.",
    item: "La herramienta.",
    created: "La herramienta nueva.",
    changed: "La herramienta, cambiada.",
    deleted: "La herramienta ya no existe.",
  },
};

type Place = Pick<ToolRow, "address" | "kind">;
const isMoved = (before: Place | undefined, after: Place) =>
  before?.address !== after.address || before.kind !== after.kind;

export async function findTool(db: Db, id: string): Promise<ToolRow> {
  return db.selectFrom("tools").where("id", "=", id).selectAll().executeTakeFirstOrThrow(notFound);
}

/** The row after its server was asked for its tools; if the server fails to tell, the row says so. */
async function asked({ db, toolbox }: Services, row: ToolRow): Promise<ToolRow> {
  await toolbox.refresh(row).catch(unlessRefused);
  return findTool(db, row.id);
}

function refuseWithoutServer({ kind, address, personal, secret }: NewTool, isProgram: boolean): void {
  if (kind === "mcp" && !address && !isProgram) throw invalid("address", "Falta la dirección del servidor MCP.");
  if (personal && (kind !== "mcp" || isProgram)) {
    throw invalid("personal", "Solo un servidor MCP con dirección usa la cuenta de cada persona.");
  }
  if (personal && secret) throw invalid("secret", "Con la cuenta de cada persona no hay una clave de la casa.");
  if (kind === "searxng" && !address) throw invalid("address", "Falta la dirección de SearXNG.");
}
