import { OpenAPIHono, type z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { type Expression, type Kysely, type SqlBool, sql } from "kysely";
import { v7 as newId } from "uuid";
import type { Db, Trx } from "../../db/connection.server.ts";
import { isTaken } from "../../db/errors.server.ts";
import type { Tables } from "../../db/tables.ts";
import type { ApiEnv, Person, Services } from "../env.server.ts";
import { readableChats, searchesOthers } from "../inspections/inspect.server.ts";
import { seeChat } from "./access.server.ts";
import { recordAudit } from "./audit.server.ts";
import { active, admin, isAdmin, noProgram, signedIn } from "./authentication.server.ts";
import { contains, type ListRules, listPage } from "./list.server.ts";
import { ifUnchanged, refuseStale, stale } from "./optimistic-lock.server.ts";
import { answerInvalid, invalid, notFound } from "./problem.server.ts";
import { mayEndSessions, publishes } from "./publish-change.server.ts";
import { changeRoute, creationRoute, deletionRoute, itemRoute, listRoute } from "./resource-routes.server.ts";
import { bearer } from "./schemas.server.ts";

type Table =
  | "accesses"
  | "groups"
  | "holds"
  | "invitations"
  | "notices"
  | "members"
  | "pages"
  | "retentions"
  | "searchModels"
  | "subscriptions"
  | "summaries"
  | "trainings"
  | "voiceModels";
type ListedTable = Table | "audit" | "emails" | "jobs" | "opinions";
type Condition = Expression<SqlBool>;

/** The type of the database for queries whose table name is known only at run time: the columns that all tables have. */
type OneTable = { table: { id: string; createdAt: number; updatedAt: number } };
const oneTable = (db: Db) => db as unknown as Kysely<OneTable>;
const nameOf = ({ table }: { table: string }) => table as keyof OneTable;

/** A validated body or parameter. Cast, because TypeScript can't infer what a route with a generic body has validated. */
const validated = (request: { valid(target: never): unknown }, target: "json" | "param"): unknown =>
  (request as { valid(target: string): unknown }).valid(target);

/** A resource that can be listed and read. */
export type Readable<T extends ListedTable, Shown extends z.ZodObject> = {
  table: T;
  shown: Shown;
  show(row: Tables[T]): z.output<Shown>;
  list: ListRules<T> & { searched: (keyof Tables[T] & string)[] };
  /** Search also matches the name and address of the person in `userId`. */
  searchesPeople?: boolean;
  /** Restricts rows to the right session, for admins too. */
  within?(person: Person): Condition;
  /** Restricts the rows that non-admins may read. Without it they may read nothing. */
  readable?(person: Person): Condition;
  /** Its rows say what was said in a chat: who administers reads and changes them as they may read that chat. */
  ofChat?: { idOf(row: Tables[T]): string; withhold(shown: z.output<Shown>): z.output<Shown> };
};

/** A resource that admins can also change. */
export type Resource<T extends Table, Shown extends z.ZodObject, Body extends z.ZodObject> = Readable<T, Shown> & {
  /** Its name in the audit trail. */
  name: string;
  body: Body;
  /** Whether programs may write it with a key. Never true of what makes people, rights, keys or addresses. */
  byPrograms?: true;
  /** Whether a write may end sessions, whose streams end with them. */
  endsSessions?: true;
  /** PUT replaces the whole, PATCH changes some fields. */
  method: "put" | "patch";
  /** Maps a validated body to columns; fields that are absent are left out. */
  columns(body: Partial<z.output<Body>>): Partial<Tables[T]>;
  /** The field with a unique constraint, and the sentence for a value that is taken. */
  unique?: { field: string; sentence: string };
  /** Completes a row before it is checked and stored, as with what is encrypted for its id. */
  complete?(services: Services, row: Tables[T], before: Tables[T] | undefined, person: Person): Tables[T];
  /** Throws 422 if it refers to something that does not exist. `given`: the body as it was sent. */
  check?(services: Services, row: Tables[T], person: Person, given: Partial<z.output<Body>>): Promise<void>;
  /** The owner of a row, if it has one. */
  ownerOf?(db: Db, row: Tables[T]): Promise<string | null>;
  /** Runs once a new row is stored for good. */
  created?(services: Services, row: Tables[T]): void;
  /** Runs after a row was stored, in the same transaction. `before`: as it was; undefined for a new one. */
  stored?(db: Db, row: Tables[T], before: Tables[T] | undefined): Promise<void>;
};

const rowsOf = (of: { table: string; within?(person: Person): Condition }, db: Db, person: Person) => {
  const all = oneTable(db).selectFrom(nameOf(of)).selectAll();
  return of.within ? all.where(of.within(person)) : all;
};

const forAll = { security: bearer, middleware: [signedIn, active] };

/** Routes for list and item. */
export function reads<T extends ListedTable, Shown extends z.ZodObject>(of: Readable<T, Shown>) {
  const visible = ({ db }: Services, person: Person) => {
    const all = rowsOf(of, db, person);
    if (isAdmin(person)) return all;
    if (!of.readable) throw notFound();
    return all.where(of.readable(person));
  };
  return new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
    .openapi(listRoute(forAll, of.shown, "Una página de la lista."), async (c) => {
      const query = c.req.valid("query");
      const { q } = query;
      const all = visible(c.var.services, c.var.person);
      const own = q !== "" && of.ofChat && !searchesOthers(c) ? of.readable?.(c.var.person) : undefined;
      const found = (own ? all.where(own) : all).$if(q !== "", (rows) =>
        rows.where((e) =>
          e.or([
            ...of.list.searched.map((column) => contains(`${of.table}.${column}`, q)),
            ...(of.searchesPeople ? [sql<boolean>`"userId" in ${peopleCalled(c.var.services.db, q)}`] : []),
          ]),
        ),
      );
      const { rows, ...rest } = await listPage(c.var.services.db, found, query, of.list);
      return c.json({ items: await showListed(of, c, rows as Tables[T][]), ...rest }, 200);
    })
    .openapi(itemRoute(forAll, of.shown, "Uno de la lista."), async (c) => {
      const { id } = c.req.valid("param");
      const found = await visible(c.var.services, c.var.person).where("id", "=", id).executeTakeFirstOrThrow(notFound);
      if (of.ofChat) await seeChat(c, of.ofChat.idOf(found as Tables[T]));
      return c.json(of.show(found as Tables[T]), 200);
    });
}

/** The rows of a list as this person may read them. */
async function showListed<T extends ListedTable, Shown extends z.ZodObject>(
  { show, ofChat }: Readable<T, Shown>,
  c: Context<ApiEnv>,
  rows: Tables[T][],
): Promise<z.output<Shown>[]> {
  if (!ofChat) return rows.map(show);
  const readable = await readableChats(c, rows.map(ofChat.idOf));
  return rows.map((row) => (readable.has(ofChat.idOf(row)) ? show(row) : ofChat.withhold(show(row))));
}

/** Routes for create, change and delete, for admins; each is recorded in the audit trail. */
export function writes<T extends Table, Shown extends z.ZodObject, Body extends z.ZodObject>(
  of: Resource<T, Shown, Body>,
) {
  const who = of.byPrograms ? [signedIn, admin] : [signedIn, noProgram, admin];
  const told = of.endsSessions ? [publishes(of.name), mayEndSessions(() => "")] : [publishes(of.name)];
  const forAdmins = { security: bearer, middleware: [...who, ...told] };
  return new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
    .openapi(creationRoute(forAdmins, of.body, of.shown, "Lo creado."), async (c) =>
      c.json(of.show(await create(of, c)), 201),
    )
    .openapi(
      changeRoute(of.method, forAdmins, of.method === "patch" ? of.body.partial() : of.body, of.shown, "Lo cambiado."),
      async (c) => c.json(of.show(await change(of, c)), 200),
    )
    .openapi(deletionRoute(forAdmins, "Ya no existe."), async (c) => {
      await remove(of, c);
      return c.body(null, 204);
    });
}

type AnyResource<T extends Table> = Resource<T, z.ZodObject, z.ZodObject>;

async function create<T extends Table>(of: AnyResource<T>, c: Context<ApiEnv>): Promise<Tables[T]> {
  const { services, person } = c.var;
  const now = services.clock.now();
  const given = validated(c.req, "json") as object;
  const named = { id: newId(), createdAt: now, updatedAt: now, ...of.columns(given) } as Tables[T];
  const row = of.complete?.(services, named, undefined, person) ?? named;
  await of.check?.(services, row, person, given);
  if (of.ofChat) await seeChat(c, of.ofChat.idOf(row));
  await store(of, services, async (trx) => {
    await oneTable(trx).insertInto(nameOf(of)).values(row).execute();
    await of.stored?.(trx, row, undefined);
    await trace(of, trx, c, "create", row, { after: tell(of, row) });
  });
  of.created?.(services, row);
  return row;
}

async function change<T extends Table>(of: AnyResource<T>, c: Context<ApiEnv>): Promise<Tables[T]> {
  const { services, person } = c.var;
  const before = await find(of, services.db, (validated(c.req, "param") as { id: string }).id, person);
  if (of.ofChat) await seeChat(c, of.ofChat.idOf(before));
  refuseStale(c, before, of.show(before));
  const given = validated(c.req, "json") as object;
  // PATCH must not apply defaults to fields that were left out.
  const sent = of.method === "patch" ? pick(given, Object.keys((await c.req.json()) as object)) : given;
  const changed = { ...before, ...of.columns(sent), updatedAt: services.clock.now() };
  const row = of.complete?.(services, changed, before, person) ?? changed;
  await of.check?.(services, row, person, sent);
  if (of.ofChat) await seeChat(c, of.ofChat.idOf(row));
  await store(of, services, async (trx) => {
    const { numUpdatedRows } = await oneTable(trx)
      .updateTable(nameOf(of))
      .set(row)
      .where("id", "=", row.id)
      .$call(ifUnchanged(c, before))
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw stale(of.show(await find(of, trx, row.id, person)));
    await of.stored?.(trx, row, before);
    await trace(of, trx, c, "update", row, { before: tell(of, before), after: tell(of, row) });
  });
  return row;
}

async function remove<T extends Table>(of: AnyResource<T>, c: Context<ApiEnv>): Promise<void> {
  const { services, person } = c.var;
  const row = await find(of, services.db, (validated(c.req, "param") as { id: string }).id, person);
  await services.db.transaction().execute(async (trx) => {
    await trace(of, trx, c, "delete", row, { before: tell(of, row) });
    await oneTable(trx).deleteFrom(nameOf(of)).where("id", "=", row.id).execute();
  });
}

async function find<T extends Table>(of: AnyResource<T>, db: Db, id: string, person: Person): Promise<Tables[T]> {
  const row = await rowsOf(of, db, person).where("id", "=", id).executeTakeFirstOrThrow(notFound);
  return row as Tables[T];
}

/** A row as the audit trail tells it: not what was said in a chat. */
const tell = <T extends Table>({ show, ofChat }: AnyResource<T>, row: Tables[T]) =>
  ofChat ? ofChat.withhold(show(row)) : show(row);

async function trace<T extends Table>(
  of: AnyResource<T>,
  trx: Trx,
  c: Context<ApiEnv>,
  action: string,
  row: Tables[T],
  changes: { before?: object; after?: object },
): Promise<void> {
  const ownerId = (await of.ownerOf?.(trx, row)) ?? null;
  await recordAudit(trx, c, action, of.name, row.id, { ownerId, changes });
}

async function store<T extends Table>(
  of: AnyResource<T>,
  services: Services,
  work: (trx: Trx) => Promise<void>,
): Promise<void> {
  try {
    await services.db.transaction().execute(work);
  } catch (error) {
    throw isTaken(error) && of.unique ? invalid(of.unique.field, of.unique.sentence) : error;
  }
}

const peopleCalled = (db: Db, q: string) =>
  db
    .selectFrom("users")
    .where((e) => e.or([contains("users.name", q), contains("users.email", q)]))
    .select("users.id");

function pick<Given extends object>(given: Given, names: string[]): Partial<Given> {
  return Object.fromEntries(Object.entries(given).filter(([name]) => names.includes(name))) as Partial<Given>;
}
