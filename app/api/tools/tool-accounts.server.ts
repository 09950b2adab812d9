import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import type { Db } from "../../db/engine.server.ts";
import type { ToolRow } from "../../db/tables.ts";
import { isPersonal, throughAccount } from "../../tools/accounts.server.ts";
import type { ApiEnv, Person } from "../env.server.ts";
import { recordAudit } from "../http/audit.server.ts";
import { active, noProgram, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, notFound } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { answers, bearer, idParam, isoOrNull, takes } from "../http/schemas.server.ts";
import { refusal, signInEnd, signInRequest, signInStart, unlessRefused } from "./tool-sign-ins.server.ts";
import { usableBy } from "./tools.server.ts";

const account = z
  .object({
    id: z.string().openapi({ description: "El id de la herramienta." }),
    name: z.string(),
    connectedAt: z.string().nullable(),
    usable: z.boolean().openapi({ description: "Si la herramienta está ahora a su alcance." }),
    problem: z.string().nullable().openapi({ description: "Por qué no se puede usar, si no se puede." }),
  })
  .openapi("ToolAccount");

const forPeople = { security: bearer, middleware: [signedIn, noProgram, active, publishes("tool")] };

const listAccountsRoute = createRoute({
  method: "get",
  path: "/",
  security: bearer,
  middleware: [signedIn, noProgram, active],
  responses: {
    200: answers(
      z.object({ items: z.array(account) }),
      "Las herramientas que usan la cuenta de cada persona, y si la suya está conectada.",
    ),
  },
});
const listAccounts: RouteHandler<typeof listAccountsRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const rows = await personalTools(services.db, person);
  const accounts = await services.db
    .selectFrom("toolAccounts")
    .innerJoin("tools", "tools.id", "toolAccounts.toolId")
    .where("toolAccounts.userId", "=", person.id)
    .select(["tools.id", "tools.name", "toolAccounts.connectedAt", "toolAccounts.problem"])
    .execute();
  const usable = rows.map(({ id, name }) => {
    const own = accounts.find((account) => account.id === id);
    return { id, name, usable: true, connectedAt: isoOrNull(own?.connectedAt ?? null), problem: own?.problem ?? null };
  });
  // A person can still see and end an account if its tool is off, or they may no longer use the tool.
  const others = accounts
    .filter(({ id, connectedAt }) => connectedAt !== null && !rows.some((row) => row.id === id))
    .map(({ id, name, connectedAt }) => {
      return { id, name, usable: false, connectedAt: isoOrNull(connectedAt), problem: "Ahora no la puedes usar." };
    });
  return c.json({ items: [...usable, ...others] }, 200);
};

/** The servers that a person may use and that want an account of each person. */
async function personalTools(db: Db, person: Person): Promise<ToolRow[]> {
  const rows = await db
    .selectFrom("tools")
    .where("enabled", "=", 1)
    .where("kind", "=", "mcp")
    .where(usableBy(person))
    .orderBy("position")
    .orderBy("id")
    .selectAll()
    .execute();
  return rows.filter(isPersonal);
}

/** Throws 404. */
async function personalTool(db: Db, person: Person, id: string): Promise<ToolRow> {
  const found = (await personalTools(db, person)).find((row) => row.id === id);
  if (!found) throw notFound();
  return found;
}

const connectRoute = createRoute({
  method: "post",
  path: "/{id}",
  ...forPeople,
  request: { params: idParam, body: takes(signInRequest) },
  responses: { 200: answers(signInStart, "Adónde tiene que ir la persona a dar permiso.") },
});
const connect: RouteHandler<typeof connectRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  await countAttempt(c, "trial", person.id);
  const row = await personalTool(services.db, person, c.req.valid("param").id);
  const reached = await throughAccount(services.db, person.id, row);
  const url = await refusal(services.toolbox.beginSignIn(reached, c.req.valid("json").redirect));
  return c.json({ url: url?.href ?? null }, 200);
};

const endRoute = createRoute({
  method: "post",
  path: "/{id}/end",
  ...forPeople,
  request: { params: idParam, body: takes(signInEnd) },
  responses: { 200: answers(account, "La cuenta está conectada.") },
});
const end: RouteHandler<typeof endRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const { db, toolbox, clock } = services;
  await countAttempt(c, "trial", person.id);
  const row = await personalTool(db, person, c.req.valid("param").id);
  const reached = await throughAccount(db, person.id, row);
  await refusal(toolbox.endSignIn(reached, new URLSearchParams(c.req.valid("json").brought)));
  const connectedAt = clock.now();
  await db.transaction().execute(async (trx) => {
    await trx
      .updateTable("toolAccounts")
      .set({ connectedAt, updatedAt: connectedAt, problem: null })
      .where("id", "=", reached.account?.id ?? "")
      .execute();
    await recordAudit(trx, c, "sign-in", "tool", row.id, { ownerId: person.id });
  });
  await toolbox.refresh(reached).catch(unlessRefused);
  const { problem } = await db
    .selectFrom("toolAccounts")
    .where("userId", "=", person.id)
    .where("toolId", "=", row.id)
    .select("problem")
    .executeTakeFirstOrThrow(notFound);
  return c.json({ id: row.id, name: row.name, usable: true, connectedAt: isoOrNull(connectedAt), problem }, 200);
};

const disconnectRoute = createRoute({
  method: "delete",
  path: "/{id}",
  ...forPeople,
  request: { params: idParam },
  responses: { 204: { description: "La cuenta ya no está conectada; lo que dio su servidor está olvidado." } },
});
const disconnect: RouteHandler<typeof disconnectRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const { id } = c.req.valid("param");
  await services.db.transaction().execute(async (trx) => {
    const { numDeletedRows } = await trx
      .deleteFrom("toolAccounts")
      .where("userId", "=", person.id)
      .where("toolId", "=", id)
      .executeTakeFirst();
    if (numDeletedRows === 0n) throw notFound();
    await recordAudit(trx, c, "sign-out", "tool", id, { ownerId: person.id });
  });
  return c.body(null, 204);
};

/** A person's own accounts at servers of tools that want an account of each person: the consent there, and its end. */
export const toolAccounts = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(listAccountsRoute, listAccounts)
  .openapi(connectRoute, connect)
  .openapi(endRoute, end)
  .openapi(disconnectRoute, disconnect);
