import { OpenAPIHono, type z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { type Expression, type SqlBool, sql } from "kysely";
import { v7 as newId } from "uuid";
import type { Db, Trx } from "../../db/engine.server.ts";
import { isTaken } from "../../db/errors.server.ts";
import type { ItemTable, Tables } from "../../db/tables.ts";
import type { ApiEnv, Person, Services } from "../env.server.ts";
import { readableChats, searchesOthers } from "../inspections/inspect.server.ts";
import { recordAudit } from "./audit.server.ts";
import { active, admin, isAdmin, maybeSignedIn, noProgram, signedIn } from "./authentication.server.ts";
import { contains, type ListRules, listPage } from "./list.server.ts";
import { answerInvalid, invalid, notFound } from "./problem.server.ts";
import { mayEndSessions, publishes } from "./publish-change.server.ts";
import { changeRoute, creationRoute, deletionRoute, itemRoute, listRoute } from "./resource-routes.server.ts";
import { bearer } from "./schemas.server.ts";
import { type Columns, encoded, oneTable, refuseStale, stale, storeRow } from "./stored-rows.server.ts";
import { seeChat } from "./visibility.server.ts";

type Condition = Expression<SqlBool>;

/** The person who calls, and the services to answer with. */
export type Asked = { services: Services; person: Person };
/** A row that is about to be stored. `now`: in ms. `before`: the row as it was; undefined for a new one. */
export type WriteContext<T extends ItemTable> = Asked & { id: string; now: number; before: Tables[T] | undefined };

/** A resource that can be listed and read. */
export type ReadResource<T extends ItemTable, Shown extends z.ZodObject> = {
  table: T;
  shown: Shown;
  show(row: Tables[T], asked: Asked): z.output<Shown>;
  list: ListRules<T> & { searched: (keyof Tables[T] & string)[] };
  /** Condition on the rows that a person may read; throws 404 if there can be none. Without `sees`: all for administrators, else none. */
  sees?(person: Person): Condition;
  /** Search also matches the name and address of the person in `userId`. */
  searchesPeople?: true;
  /** Visitors read, too; `sees` and `show` get no person for them, whatever the type says. */
  isPublic?: true;
  /** Rows that repeat texts of a chat: an administrator reads and changes them as they may read that chat, and deletes them unread. */
  ofChat?: {
    idOf(row: Tables[T]): string;
    isOwn(person: Person): Condition;
    withhold(shown: z.output<Shown>): z.output<Shown>;
  };
  /** Descriptions for the API's document. */
  says?: Partial<typeof usual>;
};

/** A resource that can also be written: by administrators, unless `mayChange` is given. */
export type Resource<
  T extends ItemTable,
  Shown extends z.ZodObject,
  Body extends z.ZodObject,
  Method extends "put" | "patch" = "put",
> = ReadResource<T, Shown> & {
  /** Name of the resource in the audit trail and in notices of changes. */
  name: string;
  body: Body;
  /** PUT, the default, replaces the whole. PATCH changes some fields; then `shown` has every field of `body`. */
  method?: Method;
  /**
   * With `mayChange`, everybody, also a program with a key, creates rows of their own, whose `userId` `columns` sets. It says whether a
   * person may change and delete a row that they see. The audit trail has only changes of other people's rows.
   */
  mayChange?(row: Tables[T], person: Person): boolean;
  /** Programs may write the resource with an administrator's key. Never set if its rows make people, rights, keys or addresses. */
  byPrograms?: true;
  /** Programs never write these rows, even with `mayChange`, because each row makes an address for anybody. */
  byPeople?: true;
  /** A write may end sessions, and so the streams of their readers. */
  endsSessions?: true;
  /** Columns that a validated body makes, with the values that a change keeps. Throws 422. */
  columns(given: z.output<Body>, writing: WriteContext<T>): Columns<T> | Promise<Columns<T>>;
  /** The field with a unique constraint, and the sentence for a value that is taken. */
  unique?: { field: string; sentence: string };
  /** Owner of a row, who is told of what others do to it. Without it: nobody, or the row's `userId` where `mayChange` is given. */
  ownerOf?(row: Tables[T], db: Db): Promise<string | null>;
  /** Writes run one after another, because one write changes other rows, too. */
  serially?: true;
  /** Runs before the transaction that deletes a row: for other people's rows that this transaction would lock. */
  beforeDeletion?(row: Tables[T], asked: Asked): Promise<void>;
  /** Runs in the transaction, after the row is written. */
  inTransaction?(trx: Trx, row: Tables[T], before: Tables[T] | undefined): Promise<void>;
  /** Runs once the row is committed. Returns the row to answer with. */
  afterCommit?(row: Tables[T], writing: WriteContext<T>): Tables[T] | Promise<Tables[T]>;
};

/** `sees` for a resource that only administrators read; they read the rows that meet this condition. */
export const onlyAdmins =
  (rows: Condition = everything) =>
  (person: Person): Condition => {
    if (!isAdmin(person)) throw notFound();
    return rows;
  };

/** Condition that every row meets. */
export const everything: Condition = sql<boolean>`true`;

/** A validated body or parameter. Cast, because TypeScript can't infer what a route with a generic body has validated. */
const validated = (request: { valid(target: never): unknown }, target: "json" | "param"): unknown =>
  (request as { valid(target: string): unknown }).valid(target);
const idOf = (c: Context<ApiEnv>) => (validated(c.req, "param") as { id: string }).id;

const usual = {
  list: "Una página de la lista.",
  item: "Uno de la lista.",
  created: "Lo creado.",
  changed: "Lo cambiado.",
  deleted: "Ya no existe.",
};

type AnyRead<T extends ItemTable> = ReadResource<T, z.ZodObject>;
type AnyResource<T extends ItemTable> = Resource<T, z.ZodObject, z.ZodObject, "put" | "patch">;

/** Routes for list and item. */
export function reads<T extends ItemTable, Shown extends z.ZodObject>(of: ReadResource<T, Shown>) {
  const readers = of.isPublic ? { middleware: [maybeSignedIn] } : { security: bearer, middleware: [signedIn, active] };
  const { list, item } = { ...usual, ...of.says };
  return new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
    .openapi(listRoute(readers, of.shown, list), async (c) => {
      const query = c.req.valid("query");
      const { db } = c.var.services;
      const { rows, ...rest } = await listPage(db, found(of, c, query.q), query, { table: of.table, ...of.list });
      return c.json({ items: await showListed(of, c, rows as Tables[T][]), ...rest }, 200);
    })
    .openapi(itemRoute(readers, of.shown, item), async (c) => {
      const row = await find(of, c.var.services.db, c.var.person, c.req.valid("param").id);
      if (of.ofChat) await seeChat(c, of.ofChat.idOf(row));
      return c.json(of.show(row, c.var), 200);
    });
}

/** Routes for list, item, creation, change and deletion. Acts of administrators are recorded in the audit trail. */
export function routesOf<
  T extends ItemTable,
  Shown extends z.ZodObject,
  Body extends z.ZodObject,
  Method extends "put" | "patch" = "put",
>(of: Resource<T, Shown, Body, Method>) {
  const byOwner = of.byPeople ? [signedIn, noProgram, active] : [signedIn, active];
  const who = of.mayChange ? byOwner : of.byPrograms ? [signedIn, admin] : [signedIn, noProgram, admin];
  const told = of.endsSessions ? [publishes(of.name), mayEndSessions(() => "")] : [publishes(of.name)];
  const writers = { security: bearer, middleware: [...who, ...told] };
  const { created, changed, deleted } = { ...usual, ...of.says };
  const method = (of.method ?? "put") as Method;
  // The type is that of the whole, which pages send.
  const body = (method === "patch" ? of.body.partial() : of.body) as Body;
  return reads(of)
    .openapi(creationRoute(writers, of.body, of.shown, created), async (c) =>
      c.json(of.show(await store(of, c, undefined), c.var), 201),
    )
    .openapi(changeRoute(method, writers, body, of.shown, changed), async (c) =>
      c.json(of.show(await change(of, c), c.var), 200),
    )
    .openapi(deletionRoute(writers, deleted), async (c) => {
      const row = await findToChange(of, c);
      refuseStale(c, row, tell(of, row, c.var));
      await of.beforeDeletion?.(row, c.var);
      await c.var.services.db.transaction().execute(async (trx) => {
        const { db, name } = oneTable(trx, of.table);
        const { numDeletedRows } = await db.deleteFrom(name).where("id", "=", row.id).executeTakeFirst();
        if (numDeletedRows === 0n) throw notFound();
        await record(of, trx, c, "delete", row, { before: tell(of, row, c.var) });
      });
      return c.body(null, 204);
    });
}

function visible<T extends ItemTable>({ table, sees = onlyAdmins() }: AnyRead<T>, all: Db, person: Person) {
  const { db, name } = oneTable(all, table);
  return db.selectFrom(name).selectAll().where(sees(person));
}

/** The rows of a list in which a text is found. */
function found<T extends ItemTable>(of: AnyRead<T>, c: Context<ApiEnv>, q: string) {
  const { person, services } = c.var;
  const all = visible(of, services.db, person);
  if (q === "") return all;
  return all
    .where(of.ofChat && !searchesOthers(c) ? of.ofChat.isOwn(person) : everything)
    .where((e) =>
      e.or([
        ...of.list.searched.map((column) => contains(`${of.table}.${column}`, q)),
        ...(of.searchesPeople ? [sql<boolean>`"userId" in ${peopleCalled(services.db, q)}`] : []),
      ]),
    );
}

const peopleCalled = (db: Db, q: string) =>
  db
    .selectFrom("users")
    .where((e) => e.or([contains("users.name", q), contains("users.email", q)]))
    .select("users.id");

/** The rows of a list as this person may read them. */
async function showListed<T extends ItemTable, Shown extends z.ZodObject>(
  { show, ofChat }: ReadResource<T, Shown>,
  c: Context<ApiEnv>,
  rows: Tables[T][],
): Promise<z.output<Shown>[]> {
  if (!ofChat) return rows.map((row) => show(row, c.var));
  const readable = await readableChats(c, rows.map(ofChat.idOf));
  return rows.map((row) => (readable.has(ofChat.idOf(row)) ? show(row, c.var) : ofChat.withhold(show(row, c.var))));
}

async function find<T extends ItemTable>(of: AnyRead<T>, db: Db, person: Person, id: string): Promise<Tables[T]> {
  return (await visible(of, db, person).where("id", "=", id).executeTakeFirstOrThrow(notFound)) as Tables[T];
}

async function findToChange<T extends ItemTable>(of: AnyResource<T>, c: Context<ApiEnv>): Promise<Tables[T]> {
  const { person, services } = c.var;
  const row = await find(of, services.db, person, idOf(c));
  if (of.mayChange && !of.mayChange(row, person)) throw notFound();
  return row;
}

const triesToChange = 5;

/** Thrown for a row that has changed since it was read: columns that were made of it may be wrong now. */
class Outrun extends Error {}

/** Changes the row of the request. If somebody else was faster, tries again with the new row, up to five times; then throws 409 with it. */
async function change<T extends ItemTable>(of: AnyResource<T>, c: Context<ApiEnv>): Promise<Tables[T]> {
  for (let tries = 0; ; tries++) {
    const before = await findToChange(of, c);
    if (of.ofChat) await seeChat(c, of.ofChat.idOf(before));
    const shown = of.show(before, c.var);
    refuseStale(c, before, shown);
    if (tries === triesToChange) throw stale(shown);
    try {
      return await store(of, c, before);
    } catch (error) {
      if (!(error instanceof Outrun)) throw error;
    }
  }
}

/** Stores what the body of the request makes, in one transaction with its row of the audit trail. */
async function store<T extends ItemTable>(
  of: AnyResource<T>,
  c: Context<ApiEnv>,
  before: Tables[T] | undefined,
): Promise<Tables[T]> {
  const { services, person } = c.var;
  const writing = { services, person, id: before?.id ?? newId(), now: services.clock.now(), before };
  const columns = await of.columns(before ? await changedBody(of, c, before) : givenBody(c), writing);
  const begun = before ?? { id: writing.id, createdAt: writing.now };
  const made = { ...begun, updatedAt: writing.now, ...encoded(columns) } as Tables[T];
  if (of.ofChat) await seeChat(c, of.ofChat.idOf(made));
  const row = await services.db
    .transaction()
    .execute(async (trx) => {
      if (of.serially && services.engine === "postgres") {
        await sql`lock table ${sql.table(of.table)} in share row exclusive mode`.execute(trx);
      }
      const stored = before ? await storeRow(trx, of.table, before, made, true) : await insert(of, trx, made);
      if (!stored) throw new Outrun();
      await of.inTransaction?.(trx, stored, before);
      const after = tell(of, stored, c.var);
      const changes = before ? { before: tell(of, before, c.var), after } : { after };
      await record(of, trx, c, before ? "update" : "create", stored, changes);
      return stored;
    })
    .catch((error) => {
      throw isTaken(error) && of.unique ? invalid(of.unique.field, of.unique.sentence) : error;
    });
  return of.afterCommit?.(row, writing) ?? row;
}

async function insert<T extends ItemTable>({ table }: AnyResource<T>, trx: Trx, row: Tables[T]): Promise<Tables[T]> {
  const { db, name } = oneTable(trx, table);
  await db.insertInto(name).values(row).execute();
  return row;
}

const givenBody = (c: Context<ApiEnv>) => validated(c.req, "json") as Record<string, unknown>;

/** The body that a change makes: the one that was sent, or with PATCH the present fields under those that were sent. */
async function changedBody<T extends ItemTable>(of: AnyResource<T>, c: Context<ApiEnv>, before: Tables[T]) {
  if (of.method !== "patch") return givenBody(c);
  const present: Record<string, unknown> = of.show(before, c.var);
  // The validated body has defaults for fields that were left out; they must not be applied.
  const sent = await c.req.json<object>();
  const names = Object.keys(of.body.shape);
  return Object.fromEntries(
    names.map((name) => [name, Object.hasOwn(sent, name) ? givenBody(c)[name] : present[name]]),
  );
}

/** A row as the audit trail tells it: without texts of a chat. */
const tell = <T extends ItemTable>({ show, ofChat }: AnyResource<T>, row: Tables[T], asked: Asked) =>
  ofChat ? ofChat.withhold(show(row, asked)) : show(row, asked);

async function record<T extends ItemTable>(
  of: AnyResource<T>,
  trx: Trx,
  c: Context<ApiEnv>,
  action: string,
  row: Tables[T],
  changes: { before?: object; after?: object },
): Promise<void> {
  const ownerId = of.ownerOf ? await of.ownerOf(row, trx) : of.mayChange && "userId" in row ? row.userId : null;
  if (of.mayChange && ownerId === c.var.person.id) return;
  await recordAudit(trx, c, action, of.name, row.id, { ownerId, changes });
}
