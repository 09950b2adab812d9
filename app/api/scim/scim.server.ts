import { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import { sql } from "kysely";
import { bearerOf } from "../../http/header.server.ts";
import { sameSecret } from "../../process/crypto.server.ts";
import { objectOf } from "../../process/text/json.ts";
import type { ApiEnv } from "../env.server.ts";
import { asProblem, notFound } from "../http/problem.server.ts";
import { countAttempt, networkOf } from "../http/rate-limit.server.ts";
import { readFilter } from "./filter.server.ts";
import * as groups from "./groups.server.ts";
import { changesIn } from "./patch.server.ts";
import * as people from "./people.server.ts";
import { noSuchThing, ScimError } from "./scim-error.server.ts";

const listSchema = "urn:ietf:params:scim:api:messages:2.0:ListResponse";
const errorSchema = "urn:ietf:params:scim:api:messages:2.0:Error";
const configSchema = "urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig";
const typeSchema = "urn:ietf:params:scim:schemas:core:2.0:ResourceType";
const pageAtMost = 200;

/** Address of the service as its caller knows it. */
const baseOf = (c: Context<ApiEnv>) => `${c.var.services.config.publicUrl ?? new URL(c.req.url).origin}/v1/scim/v2`;

const answer = (c: Context<ApiEnv>, body: object, status: 200 | 201 = 200) =>
  c.body(JSON.stringify(body), status, { "Content-Type": "application/scim+json" });

/** Lets in callers with SCIM_TOKEN; without that setting, calls are a 404. */
const provider = createMiddleware<ApiEnv>(async (c, next) => {
  const { scimToken } = c.var.services.config;
  if (!scimToken) throw notFound();
  if (!sameSecret(bearerOf(c.req.raw), scimToken)) {
    await countAttempt(c, "oauth", networkOf(c));
    throw new ScimError(401, "Falta el token, o no es el de SCIM_TOKEN.");
  }
  const admins = c.var.services.db.selectFrom("users").where("role", "=", "admin").select("id").limit(1);
  // The first account administers: it must not be an account that nobody has signed in to.
  if (!(await admins.executeTakeFirst())) {
    throw new ScimError(503, "Aún no administra nadie esta instalación: entra antes en ella.");
  }
  await next();
});

/** Body of a call. Texts lose NUL, which PostgreSQL can't store. Throws ScimError. */
async function bodyOf(c: Context<ApiEnv>): Promise<Record<string, unknown>> {
  const said = await c.req.text();
  try {
    // The escape is taken away wherever it stands, also in names.
    const body = objectOf(said.replace(/(?<!\\)((?:\\\\)*)\\u0000/g, "$1"));
    if (body) return body;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new ScimError(400, "El cuerpo no es un objeto JSON.", "invalidSyntax");
}

/** Whether a list or an item is asked for without an attribute, which may be long. */
const leavesOut = (c: Context<ApiEnv>, attribute: string) =>
  (c.req.query("excludedAttributes") ?? "").split(",").some((one) => one.trim().toLowerCase() === attribute);

function pageOf(c: Context<ApiEnv>): { from: number; count: number } {
  const number = (name: string, usual: number) => {
    const said = Number(c.req.query(name) ?? usual);
    return Number.isFinite(said) ? Math.min(Math.trunc(said), 1_000_000_000) : usual;
  };
  return {
    from: Math.max(1, number("startIndex", 1)),
    count: Math.min(pageAtMost, Math.max(0, number("count", 100))),
  };
}

const listOf = (c: Context<ApiEnv>, total: number, from: number, items: object[]) =>
  answer(c, {
    schemas: [listSchema],
    totalResults: total,
    startIndex: from,
    itemsPerPage: items.length,
    Resources: items,
  });

/**
 * Accounts and groups, kept by a provider of identities (SCIM 2.0: RFC 7643, 7644) that has SCIM_TOKEN. The provider can't change
 * roles, and can't delete anything that people have written.
 */
export const scim = new OpenAPIHono<ApiEnv>();
scim.onError((error, c) => {
  const known = error instanceof ScimError ? error : undefined;
  const problem = known ? undefined : asProblem(error, c);
  const status = known?.status ?? problem?.status ?? 500;
  if (status >= 500) c.var.services.log.error({ err: error, requestId: c.var.requestId }, "error en SCIM");
  const body = {
    schemas: [errorSchema],
    status: String(status),
    ...(known?.scimType && { scimType: known.scimType }),
    detail: known?.message ?? problem?.message,
  };
  return c.body(JSON.stringify(body), status, { "Content-Type": "application/scim+json", ...problem?.headers });
});
scim.use(provider);

scim.get("/Users", async (c) => {
  const { db } = c.var.services;
  const wanted = readFilter(c.req.query("filter"), people.personFilters);
  const { from, count } = pageOf(c);
  const found = people.peopleWanted(db, wanted);
  const { total } = await found.clearSelect().select(sql<number>`count(*)`.as("total")).executeTakeFirstOrThrow();
  const rows = await found
    .orderBy("users.id")
    .offset(from - 1)
    .limit(count)
    .execute();
  return listOf(
    c,
    Number(total),
    from,
    rows.map((row) => people.showPerson(row, baseOf(c))),
  );
});
scim.post("/Users", async (c) =>
  answer(c, people.showPerson(await people.createPerson(c, await bodyOf(c)), baseOf(c), []), 201),
);
scim.get("/Users/:id", async (c) => {
  const { db } = c.var.services;
  const row = await people.findPerson(db, c.req.param("id"));
  return answer(c, people.showPerson(row, baseOf(c), await groups.groupsWith(db, row.id)));
});
scim.put("/Users/:id", async (c) => {
  const row = await people.changePerson(c, c.req.param("id"), { body: await bodyOf(c) });
  return answer(c, people.showPerson(row, baseOf(c)));
});
scim.patch("/Users/:id", async (c) => {
  const row = await people.changePerson(c, c.req.param("id"), { changes: changesIn(await bodyOf(c)) });
  return answer(c, people.showPerson(row, baseOf(c)));
});
scim.delete("/Users/:id", async (c) => {
  await people.removePerson(c, c.req.param("id"));
  return c.body(null, 204);
});

scim.get("/Groups", async (c) => {
  const { db } = c.var.services;
  const wanted = readFilter(c.req.query("filter"), groups.groupFilters);
  const { from, count } = pageOf(c);
  const found = groups.groupsWanted(db, wanted);
  const { total } = await found.clearSelect().select(sql<number>`count(*)`.as("total")).executeTakeFirstOrThrow();
  const rows = await found
    .orderBy("groups.id")
    .offset(from - 1)
    .limit(count)
    .execute();
  const items: object[] = [];
  for (const row of rows) {
    const members = leavesOut(c, "members") ? undefined : await groups.membersOf(db, row.id);
    items.push(groups.showGroup(row, baseOf(c), members));
  }
  return listOf(c, Number(total), from, items);
});
scim.post("/Groups", async (c) => {
  const row = await groups.createGroup(c, await bodyOf(c));
  return answer(c, groups.showGroup(row, baseOf(c), await groups.membersOf(c.var.services.db, row.id)), 201);
});
scim.get("/Groups/:id", async (c) => {
  const { db } = c.var.services;
  const row = await groups.findGroup(db, c.req.param("id"));
  const members = leavesOut(c, "members") ? undefined : await groups.membersOf(db, row.id);
  return answer(c, groups.showGroup(row, baseOf(c), members));
});
scim.put("/Groups/:id", async (c) => {
  const row = await groups.replaceGroup(c, c.req.param("id"), await bodyOf(c));
  return answer(c, groups.showGroup(row, baseOf(c), await groups.membersOf(c.var.services.db, row.id)));
});
// The answer has no members: a provider changes large groups one member at a time.
scim.patch("/Groups/:id", async (c) => {
  await groups.changeGroup(c, c.req.param("id"), changesIn(await bodyOf(c)));
  return c.body(null, 204);
});
scim.delete("/Groups/:id", async (c) => {
  await groups.removeGroup(c, c.req.param("id"));
  return c.body(null, 204);
});

scim.get("/ServiceProviderConfig", (c) =>
  answer(c, {
    schemas: [configSchema],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: pageAtMost },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: false },
    authenticationSchemes: [
      { type: "oauthbearertoken", name: "Token", description: "El de SCIM_TOKEN.", primary: true },
    ],
    meta: { resourceType: "ServiceProviderConfig", location: `${baseOf(c)}/ServiceProviderConfig` },
  }),
);

const typeOf = (c: Context<ApiEnv>, name: "User" | "Group") => ({
  schemas: [typeSchema],
  id: name,
  name,
  endpoint: `/${name}s`,
  schema: `urn:ietf:params:scim:schemas:core:2.0:${name}`,
  meta: { resourceType: "ResourceType", location: `${baseOf(c)}/ResourceTypes/${name}` },
});
const typesFor = (c: Context<ApiEnv>) => [typeOf(c, "User"), typeOf(c, "Group")];
const schemasFor = (c: Context<ApiEnv>) => [schemaOf(c, "User", userAttributes), schemaOf(c, "Group", groupAttributes)];

/** The description with an id. Throws ScimError if none has it. */
function withId<Described extends { id: string }>(all: Described[], id: string): Described {
  const found = all.find((one) => one.id === id);
  if (!found) throw noSuchThing();
  return found;
}

scim.get("/ResourceTypes", (c) => listOf(c, 2, 1, typesFor(c)));
scim.get("/ResourceTypes/:id", (c) => answer(c, withId(typesFor(c), c.req.param("id"))));
scim.get("/Schemas", (c) => listOf(c, 2, 1, schemasFor(c)));
scim.get("/Schemas/:id", (c) => answer(c, withId(schemasFor(c), c.req.param("id"))));
// A provider understands only errors in SCIM's form, also for what is not here (`/Me`, `/Bulk`).
scim.all("*", () => {
  throw noSuchThing();
});

const attribute = (name: string, type = "string", more: object = {}) => ({
  ...{ name, type, multiValued: false, required: false, caseExact: false },
  ...{ mutability: "readWrite", returned: "default", uniqueness: "none" },
  ...more,
});
const userAttributes = [
  attribute("userName", "string", { required: true, uniqueness: "server" }),
  attribute("displayName"),
  attribute("name", "complex", {
    subAttributes: [attribute("formatted"), attribute("givenName"), attribute("familyName")],
  }),
  attribute("emails", "complex", {
    multiValued: true,
    subAttributes: [attribute("value"), attribute("type"), attribute("primary", "boolean")],
  }),
  attribute("active", "boolean"),
];
const groupAttributes = [
  attribute("displayName", "string", { required: true, uniqueness: "server" }),
  attribute("members", "complex", { multiValued: true, subAttributes: [attribute("value"), attribute("display")] }),
];
const schemaOf = (c: Context<ApiEnv>, name: string, attributes: object[]) => {
  const id = `urn:ietf:params:scim:schemas:core:2.0:${name}`;
  return {
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:Schema"],
    id,
    name,
    attributes,
    meta: { resourceType: "Schema", location: `${baseOf(c)}/Schemas/${id}` },
  };
};
