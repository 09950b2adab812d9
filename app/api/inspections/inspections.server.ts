import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import { appendAudit } from "../../db/audit/append.server.ts";
import type { Db } from "../../db/engine.server.ts";
import { newRow } from "../../db/rows.server.ts";
import { limits } from "../../process/limits.ts";
import { storedJson } from "../../process/text/json.ts";
import type { ApiEnv, Services } from "../env.server.ts";
import { admin, noProgram, signedIn } from "../http/authentication.server.ts";
import { listOf, listPage, listQuery } from "../http/list.server.ts";
import { answerInvalid, invalid, notFound } from "../http/problem.server.ts";
import { answers, bearer, id, iso, takes, text } from "../http/schemas.server.ts";
import {
  type Inspected,
  inspectable,
  inspections as inspectionActions,
  inspectionLasts,
  neverInspected,
  titleForOthers,
  underInspection,
} from "./inspect.server.ts";

// In ms. An owner who, for a reason, is not told at once sees the inspection after this time.
const untoldFor = 30 * 24 * 60 * 60_000;

const resource = z.enum(inspectable, "Eso no se lee así.");
const thing = z
  .object({
    title: z.string(),
    ownerName: z.string().nullable().openapi({ description: "null: es de todas las personas." }),
    openUntil: z
      .string()
      .nullable()
      .openapi({ description: "Hasta cuándo se puede leer; null: no se ha dicho para qué." }),
  })
  .openapi("Inspected");
const purpose = z.strictObject({
  resource,
  id,
  purpose: text("Para qué", limits.inspectionPurpose, 1),
  untold: text("Por qué no avisar", limits.inspectionPurpose)
    .default("")
    .openapi({ description: "Por qué no se avisa a la persona ahora; vacío: se le avisa." }),
});
const inspection = z
  .object({
    id: z.string(),
    at: z.string(),
    by: z.string().openapi({ description: "Quién lo leyó." }),
    resource,
    title: z.string().openapi({ description: "Vacío: ya no existe." }),
    purpose: z.string().openapi({ description: "Vacío: no hacía falta decirlo." }),
  })
  .openapi("Inspection");

const forAdmins = { security: bearer, middleware: [signedIn, noProgram, admin] };

const showThingRoute = createRoute({
  method: "get",
  path: "/{resource}/{id}",
  ...forAdmins,
  request: {
    params: z.object({
      resource: resource.openapi({ param: { name: "resource", in: "path" } }),
      id: id.openapi({ param: { name: "id", in: "path" } }),
    }),
  },
  responses: { 200: answers(thing, "Lo que se quiere leer: cómo se llama y de quién es.") },
});
const showThing: RouteHandler<typeof showThingRoute, ApiEnv> = async (c) => {
  const asked = c.req.valid("param");
  const { title, ownerId, ownerName } = await find(c.var.services, asked.resource, asked.id);
  if (ownerId === c.var.person.id) throw notFound();
  const open = (await underInspection(c, asked.resource, [asked.id])).get(asked.id);
  const openUntil = open === undefined ? null : iso(open + inspectionLasts);
  return c.json({ title, ownerName, openUntil }, 200);
};

const beginRoute = createRoute({
  method: "post",
  path: "/",
  ...forAdmins,
  request: { body: takes(purpose) },
  responses: { 201: answers(z.object({ openUntil: z.string() }), "Se puede leer hasta entonces.") },
});
const begin: RouteHandler<typeof beginRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  if (services.config.adminReads === "never") throw neverInspected();
  const { purpose: said, untold, ...asked } = c.req.valid("json");
  const { ownerId, title } = await find(services, asked.resource, asked.id);
  if (ownerId === person.id) throw invalid("id", "Es tuyo: ya lo puedes leer.");
  const reader = await nameOf(services.db, person.id);
  const now = Date.now();
  await services.db.transaction().execute(async (trx) => {
    await appendAudit(trx, {
      actorId: person.id,
      ownerId,
      action: untold ? "read-untold" : "read",
      resource: asked.resource,
      resourceId: asked.id,
      changes: { after: { purpose: said, ...(untold && { untold }) } },
      ip: c.env.ip,
    });
    if (untold || !ownerId) return;
    const notice = `${reader}, que administra, puede leer durante una hora ${named[asked.resource]} «${title}». Para qué: ${said}`;
    const row = { ...newRow(now), userId: ownerId, groupIds: null, endsAt: null };
    await trx
      .insertInto("notices")
      .values({ ...row, text: notice })
      .execute();
  });
  if (!untold && ownerId) services.changes.tell({ userId: ownerId, what: "notice" });
  return c.json({ openUntil: iso(now + inspectionLasts) }, 201);
};

const named: Record<Inspected["resource"], string> = {
  chat: "tu conversación",
  file: "tu archivo",
  project: "tu proyecto",
  backup: "la copia",
};

const listRoute = createRoute({
  method: "get",
  path: "/",
  security: bearer,
  middleware: [signedIn],
  request: { query: listQuery },
  responses: {
    200: answers(
      listOf(inspection).extend({
        rule: z.enum(["open", "reason", "never"]).openapi({ description: "Cuándo lee aquí quien administra." }),
      }),
      "Quién ha leído lo de la persona, cuándo y para qué.",
    ),
  },
});
const list: RouteHandler<typeof listRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const { db, config } = services;
  const told = db
    .selectFrom("audit")
    .where("ownerId", "=", person.id)
    .where("resource", "in", inspectable)
    .where("action", "in", inspectionActions)
    .where((e) => e.or([e("action", "=", "read"), e("createdAt", "<", Date.now() - untoldFor)]))
    .selectAll();
  const { rows, ...rest } = await listPage(db, told, c.req.valid("query"), {
    table: "audit",
    sortable: [{ number: "createdAt", direction: "desc" }],
    filters: {},
  });
  const names = await namesOf(db, rows);
  const items = rows.map((row) => ({
    id: row.id,
    at: iso(row.createdAt),
    by: names.get(row.actorId ?? "") ?? "Alguien que ya no tiene cuenta",
    resource: row.resource as Inspected["resource"],
    title: names.get(row.resourceId ?? "") ?? "",
    purpose: storedJson<{ after?: { purpose?: string } }>(row.changes).after?.purpose ?? "",
  }));
  return c.json({ items, ...rest, rule: config.adminReads }, 200);
};

/** An administrator states the purpose of an inspection; each person sees who has read things of theirs. */
export const inspections = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(listRoute, list)
  .openapi(beginRoute, begin)
  .openapi(showThingRoute, showThing);

type Found = { title: string; ownerId: string | null; ownerName: string | null };

/** Title and owner of the thing. Throws 404, also for things of a temporary chat. */
async function find({ db, backups }: Services, kind: Inspected["resource"], thingId: string): Promise<Found> {
  if (kind === "backup") {
    if (!(await backups?.find(thingId))) throw notFound();
    return { title: thingId, ownerId: null, ownerName: null };
  }
  const rows =
    kind === "chat"
      ? db.selectFrom("chats as t").where("t.sessionId", "is", null).select(titleForOthers.as("title"))
      : kind === "file"
        ? db.selectFrom("files as t").where("t.sessionId", "is", null).select("t.name as title")
        : db.selectFrom("projects as t").select("t.name as title");
  const found = await rows
    .innerJoin("users", "users.id", "t.userId")
    .where("t.id", "=", thingId)
    .select(["t.userId as ownerId", "users.name as ownerName"])
    .executeTakeFirstOrThrow(notFound);
  return found;
}

async function nameOf(db: Db, userId: string): Promise<string> {
  const { name } = await db.selectFrom("users").where("id", "=", userId).select("name").executeTakeFirstOrThrow();
  return name;
}

/** The names of the readers and of the things that they have read, by id. */
async function namesOf(db: Db, rows: { actorId: string | null; resourceId: string | null }[]) {
  const ids = ["", ...rows.flatMap(({ actorId, resourceId }) => [actorId, resourceId].filter((one) => one !== null))];
  const [people, chats, files, projects] = await Promise.all([
    db.selectFrom("users").where("id", "in", ids).select(["id", "name"]).execute(),
    db.selectFrom("chats").where("id", "in", ids).select(["id", "title as name"]).execute(),
    db.selectFrom("files").where("id", "in", ids).select(["id", "name"]).execute(),
    db.selectFrom("projects").where("id", "in", ids).select(["id", "name"]).execute(),
  ]);
  return new Map([...people, ...chats, ...files, ...projects].map(({ id: one, name }) => [one, name]));
}
