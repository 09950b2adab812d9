import { createRoute, OpenAPIHono, type z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { SelectQueryBuilder } from "kysely";
import { v7 as newId } from "uuid";
import type { Db } from "../db/connection.server.ts";
import { isTaken } from "../db/errors.server.ts";
import type { Tables } from "../db/tables.ts";
import { recordAudit } from "./audit.server.ts";
import { active, admin, isAdmin, signedIn } from "./authentication.server.ts";
import type { ApiEnv, Person, Services } from "./env.server.ts";
import { contains, type ListRules, listOf, listPage, listQuery } from "./list.server.ts";
import { answerInvalid, invalid, notFound } from "./problem.server.ts";
import { answers, bearer, idParam, takes } from "./schemas.server.ts";
import { ifUnchanged, refuseStale, stale, tagOf } from "./versions.server.ts";

type Table = "pages" | "subscriptions" | "summaries" | "trainings";
type Listed = Table | "audit" | "emails";
type Query<T extends Listed> = SelectQueryBuilder<Tables, T, Tables[T]>;

// Kysely knows tables by name, one at a time; to it, every resource is this one.
type Any = "trainings";
type AnyQuery = SelectQueryBuilder<Tables, Any, Tables[Any]>;

/** What a body or parameter of a route is, where the route's types are made of those of a resource. */
const valid = <Value>(c: Context<ApiEnv>, target: "json" | "param"): Value =>
  (c.req as unknown as { valid(target: string): Value }).valid(target);

/** A table that is read as a list and one by one. */
export type Readable<T extends Listed, Shown extends z.ZodObject> = {
  table: T;
  shown: Shown;
  show(row: Tables[T]): z.output<Shown>;
  list: ListRules<T> & { searched: (keyof Tables[T] & string)[] };
  /** What people who are no admins may read of it; without it nothing. */
  readable?(query: Query<T>, person: Person): Query<T>;
};

/** One that admins also change. */
export type Resource<T extends Table, Shown extends z.ZodObject, Body extends z.ZodObject> = Readable<T, Shown> & {
  /** As the audit names it. */
  name: string;
  body: Body;
  /** The seed's: PUT takes the whole, PATCH what has changed. */
  method: "put" | "patch";
  /** The columns that a checked body stands for, of those that it has. */
  columns(body: Partial<z.output<Body>>): Partial<Tables[T]>;
  /** The column whose value nobody else has, to be named where it is taken. */
  unique?: { field: string; sentence: string };
  /** Throws 422 where it refers to what is not there. */
  check?(services: Services, row: Tables[T]): Promise<void>;
  /** Whose a row is, where it is somebody's. */
  ownerOf?(db: Db, row: Tables[T]): Promise<string | null>;
  /** What else a stored row brings with it, in the same transaction. */
  stored?(db: Db, row: Tables[T]): Promise<void>;
};

/** List and item, for admins and for those whom the resource lets read. */
export function reads<T extends Listed, Shown extends z.ZodObject>(of: Readable<T, Shown>) {
  const visible = ({ db }: Services, person: Person): AnyQuery => {
    const all = db.selectFrom(of.table as Any).selectAll();
    if (isAdmin(person)) return all;
    if (!of.readable) throw notFound();
    return of.readable(all as unknown as Query<T>, person) as unknown as AnyQuery;
  };
  return new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
    .openapi(
      createRoute({
        method: "get",
        path: "/",
        security: bearer,
        middleware: [signedIn, active],
        request: { query: listQuery },
        responses: { 200: answers(listOf(of.shown), "Una página de la lista.") },
      }),
      async (c) => {
        const query = c.req.valid("query");
        const { q } = query;
        const found = visible(c.var.services, c.var.person).$if(Boolean(q), (all) =>
          all.where((e) => e.or(of.list.searched.map((column) => contains(`${of.table}.${column}`, q ?? "")))),
        );
        const { rows, ...rest } = await listPage(c.var.services.db, found, query, of.list as unknown as ListRules<Any>);
        return c.json({ items: (rows as unknown as Tables[T][]).map(of.show), ...rest } as never, 200);
      },
    )
    .openapi(
      createRoute({
        method: "get",
        path: "/{id}",
        security: bearer,
        middleware: [signedIn, active],
        request: { params: idParam },
        responses: { 200: answers(of.shown, "Uno de la lista.") },
      }),
      async (c) => {
        const { id } = c.req.valid("param");
        const found = await visible(c.var.services, c.var.person).where("id", "=", id).executeTakeFirst();
        const row = found as unknown as Tables[T] | undefined;
        if (!row) throw notFound();
        return c.json(of.show(row) as never, 200, { ETag: tagOf(row) });
      },
    );
}

/** Create, change and delete, for admins; each leaves its trace. */
export function writes<T extends Table, Shown extends z.ZodObject, Body extends z.ZodObject>(
  of: Resource<T, Shown, Body>,
) {
  const forAdmins = { security: bearer, middleware: [signedIn, admin] };
  const find = async (db: Db, id: string): Promise<Tables[T]> => {
    const row = await db
      .selectFrom(of.table as Any)
      .where("id", "=", id)
      .selectAll()
      .executeTakeFirst();
    if (!row) throw notFound();
    return row as unknown as Tables[T];
  };
  const trace = async (
    trx: Db,
    c: Context<ApiEnv>,
    action: string,
    row: Tables[T],
    changes: { before?: object; after?: object },
  ) => {
    const ownerId = (await of.ownerOf?.(trx, row)) ?? null;
    const what = { actorId: c.var.person.id, action, resource: of.name, resourceId: row.id };
    await recordAudit(trx, c, { ...what, ownerId, changes });
  };
  const store = async (services: Services, work: (trx: Db) => Promise<void>) => {
    try {
      await services.db.transaction().execute(work);
    } catch (error) {
      throw isTaken(error) && of.unique ? invalid(of.unique.field, of.unique.sentence) : error;
    }
  };
  return new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
    .openapi(
      createRoute({
        method: "post",
        path: "/",
        ...forAdmins,
        request: { body: takes(of.body) },
        responses: { 201: answers(of.shown, "Lo creado.") },
      }),
      async (c) => {
        const { services } = c.var;
        const now = Date.now();
        const given = of.columns(valid(c, "json"));
        const row = { id: newId(), createdAt: now, updatedAt: now, ...given } as Tables[T];
        await of.check?.(services, row);
        await store(services, async (trx) => {
          await trx
            .insertInto(of.table as Any)
            .values(row as never)
            .execute();
          await of.stored?.(trx, row);
          await trace(trx, c, "create", row, { after: of.show(row) });
        });
        return c.json(of.show(row) as never, 201);
      },
    )
    .openapi(
      createRoute({
        method: of.method,
        path: "/{id}",
        ...forAdmins,
        request: { params: idParam, body: takes(of.method === "patch" ? of.body.partial() : of.body) },
        responses: { 200: answers(of.shown, "Lo cambiado.") },
      }),
      async (c) => {
        const { services } = c.var;
        const before = await find(services.db, valid<{ id: string }>(c, "param").id);
        refuseStale(c, before, of.show(before));
        const given = valid<Partial<z.output<Body>>>(c, "json");
        // Defaults are for what is made, not for what a change leaves out.
        const sent = of.method === "patch" ? pick(given, Object.keys((await c.req.json()) as object)) : given;
        const row = { ...before, ...of.columns(sent), updatedAt: Date.now() };
        await of.check?.(services, row);
        await store(services, async (trx) => {
          const { numUpdatedRows } = await trx
            .updateTable(of.table as Any)
            .set(row as never)
            .where("id", "=", row.id)
            .$call(ifUnchanged(c, before))
            .executeTakeFirst();
          if (numUpdatedRows === 0n) throw stale(of.show(await find(trx, row.id)));
          await of.stored?.(trx, row);
          await trace(trx, c, "update", row, { before: of.show(before), after: of.show(row) });
        });
        return c.json(of.show(row) as never, 200);
      },
    )
    .openapi(
      createRoute({
        method: "delete",
        path: "/{id}",
        ...forAdmins,
        request: { params: idParam },
        responses: { 204: { description: "Ya no existe." } },
      }),
      async (c) => {
        const { services } = c.var;
        const row = await find(services.db, c.req.valid("param").id);
        await services.db.transaction().execute(async (trx) => {
          await trace(trx, c, "delete", row, { before: of.show(row) });
          await trx
            .deleteFrom(of.table as Any)
            .where("id", "=", row.id)
            .execute();
        });
        return c.body(null, 204);
      },
    );
}

function pick<Given extends object>(given: Given, names: string[]): Partial<Given> {
  return Object.fromEntries(Object.entries(given).filter(([name]) => names.includes(name))) as Partial<Given>;
}
