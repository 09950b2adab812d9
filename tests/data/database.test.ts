import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { Kysely, sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openDatabase } from "../../app/db/connection.server.ts";
import { createMigrator, pendingMigrations } from "../../app/db/migrate.server.ts";
import { searchPassages } from "../../app/db/search/find.server.ts";
import { cutPassages, indexText } from "../../app/db/search/passages.server.ts";
import { searchWords } from "../../app/db/search/words.server.ts";
import { openSqlite, sqliteDialect } from "../../app/db/sqlite/sqlite.server.ts";
import { createLog } from "../../app/process/log.server.ts";
import { queryEngines } from "../support/engines.ts";

const engines = await queryEngines();
const log = createLog("silent");

describe.each(engines)("on $name", (engine) => {
  let database: Awaited<ReturnType<typeof engine.open>>;
  beforeAll(async () => {
    database = await engine.open();
  });
  afterAll(() => database.drop());

  it("has carried out every migration", async () => {
    expect(await pendingMigrations(database.db, database.engine)).toMatchObject({ names: [] });
  });

  it("finds other word forms without accents, best passage first", async () => {
    const owner = "019a-1";
    await indexText(database.db, "El camión azul se paró en Logroño.", owner, {});
    await indexText(database.db, "Compramos camiones, muchos camiones azules.", owner, {});
    await indexText(database.db, "Nada que ver con lo otro.", owner, {});
    const hits = await search("¿cuántos CAMIONES azules había?", [owner]);
    expect(hits.map(({ text }) => text)).toEqual([
      "Compramos camiones, muchos camiones azules.",
      "El camión azul se paró en Logroño.",
    ]);
  });

  it("finds accented words without accents, and the reverse", async () => {
    const owner = "019a-8";
    await indexText(database.db, "La convoca María Lucía García, de la notaría, por la instalación.", owner, {});
    await indexText(database.db, "El barco sale al mar.", owner, {});
    await indexText(database.db, "Lo recibio el señor Garcia en la direccion de la policia.", owner, {});
    const found = async (question: string) => (await search(question, [owner])).map(({ text }) => text.slice(0, 9));
    for (const typed of ["maria", "María", "lucia", "notaria", "instalacion", "instalaciones"])
      expect(await found(typed)).toEqual(["La convoc"]);
    for (const typed of ["recibió", "dirección", "policías"]) expect(await found(typed)).toEqual(["Lo recibi"]);
    for (const typed of ["García", "garcia"]) expect(await found(typed)).toHaveLength(2);
  });

  it("finds ñ when n is typed, but not the reverse", async () => {
    const owner = "019a-2";
    await indexText(database.db, "Cumple un año en enero.", owner, {});
    await indexText(database.db, "La pena no es de peñas.", owner, {});
    expect(await search("ano", [owner])).toHaveLength(1);
    expect(await search("años", [owner])).toHaveLength(1);
    expect(await search("eñero", [owner])).toEqual([]);
  });

  it("finds nothing of another owner", async () => {
    await indexText(database.db, "Mi contraseña secreta es gato.", "019a-3", {});
    expect(await search("contraseña secreta gato", ["019a-4"])).toEqual([]);
  });

  it("finds nothing of who writes another owner's word, or everyone's", async () => {
    await indexText(database.db, "uparatodós u019a6 vacaciones forjadas", "019a-7", {});
    expect(await search("vacaciones forjadas", ["", "019a-6"])).toEqual([]);
  });

  it("takes quotes, operators and emptiness for words, not for syntax", async () => {
    for (const question of [
      '"',
      "a OR b",
      "NOT (x)",
      "''; drop table users",
      "& | ! :*",
      "",
      "   ",
      "¿?",
      "de la que",
    ]) {
      await expect(search(question, ["019a-5"])).resolves.toBeInstanceOf(Array);
    }
  });

  if (engine.name === "postgres")
    it("frees what a host lost in a transaction has locked", async () => {
      const shown = await sql<Record<string, string>>`show idle_in_transaction_session_timeout`.execute(database.db);
      expect(Object.values(shown.rows[0] ?? {})).toEqual(["1min"]);
    });

  function search(question: string, owners: string[]) {
    return searchPassages(database.db, database.engine, { question, owners, except: [], limit: 5 });
  }
});

describe("the words of search", () => {
  it("are folded and stemmed alike on both sides", () => {
    expect(searchWords("Canción CANCIONES")).toEqual([searchWords("cancion")[0], searchWords("canciones")[0]]);
  });

  it("come from passages cut at sentence ends, without loss", () => {
    const text = Array.from({ length: 200 }, (_, n) => `Frase número ${n} del texto.`).join(" ");
    const passages = cutPassages(text);
    expect(passages.length).toBeGreaterThan(4);
    expect(passages.every((passage) => passage.length <= 900 && passage.endsWith("."))).toBe(true);
    expect(passages.join(" ")).toBe(text);
  });

  it("of a table are cut between rows, repeating column names", () => {
    const rows = Array.from({ length: 120 }, (_, n) => `Factura ${n} | ${n}/3/2024 | Papelería S. A. | ${n},50`);
    const passages = cutPassages(`# Gastos\n\nNúmero | Fecha | De quién | Importe\n${rows.join("\n")}\n\nHasta aquí.`);
    expect(passages.length).toBeGreaterThan(4);
    expect(passages.every((passage) => passage.length <= 900)).toBe(true);
    expect(passages.every((passage) => passage.includes("Número | Fecha | De quién | Importe\n"))).toBe(true);
    expect(passages.flatMap((passage) => passage.match(/^Factura .*$/gm) ?? [])).toEqual(rows);
    // Text after the table has nothing of it.
    const after = cutPassages(`Número | Importe\n${rows.slice(0, 15).join("\n")}\n\n${"Y otra cosa. ".repeat(100)}`);
    expect(after.at(-1)).toMatch(/^Y otra cosa/);
  });

  it("keeps the rows of a text in letters of one width whole", () => {
    const printed = Array.from(
      { length: 30 },
      (_, n) => `H${100 + n}   CLARA PASTEUR. 5 KG        P261${10 + n}      9,80`,
    );
    for (const passage of cutPassages(printed.join("\n"))) expect(passage).toMatch(/^H\d{3} [\s\S]*9,80$/);
  });

  it("cuts a text without any space too", () => {
    expect(cutPassages("x".repeat(5000)).join("")).toBe("x".repeat(5000));
  });
});

describe("an embedded database", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "tertulia-"));
  afterAll(() => rmSync(dataDir, { recursive: true }));

  it("is refused to a second process, with a sentence", async () => {
    const first = await openDatabase({ dataDir, databaseUrl: undefined }, log);
    await expect(openDatabase({ dataDir, databaseUrl: undefined }, log)).rejects.toThrow(
      /Otro proceso de Tertulia ya usa/,
    );
    await first.close();
    const again = await openDatabase({ dataDir, databaseUrl: undefined }, log);
    await again.close();
  });

  // tests/failure/power-loss.long.test.ts shows that a write is on the disk when it is answered.
  it("checkpoints its log while in use and reopens without loss", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tertulia-"));
    const opened = await openDatabase({ dataDir: folder, databaseUrl: undefined }, log);
    await sql`create table filler (content blob)`.execute(opened.db);
    for (let n = 0; n < 450; n++) await sql`insert into filler values (randomblob(100000))`.execute(opened.db);
    // A copy that was in somebody's way is made again some seconds later, after another write.
    let written = 450;
    await vi.waitFor(
      async () => {
        await sql`insert into filler values (randomblob(100000))`.execute(opened.db);
        written++;
        expect(statSync(join(folder, "tertulia.db")).size).toBeGreaterThan(30_000_000);
      },
      { timeout: 100_000, interval: 500 },
    );
    await opened.close();
    const again = await openDatabase({ dataDir: folder, databaseUrl: undefined }, log);
    const { rows } = await sql<{ n: number }>`select count(*) as n from filler`.execute(again.db);
    expect(rows).toEqual([{ n: written }]);
    await again.close();
    rmSync(folder, { recursive: true });
    // 45 MB, each row synced on its own.
  }, 120_000);

  it("serializes concurrent writes and keeps each transaction together", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tertulia-"));
    const { db, close } = await openDatabase({ dataDir: folder, databaseUrl: undefined }, log);
    await sql`create table counted (n integer)`.execute(db);
    await sql`insert into counted values (0)`.execute(db);
    const add = () =>
      db.transaction().execute(async (trx) => {
        const { rows } = await sql<{ n: number }>`select n from counted`.execute(trx);
        await new Promise((resolve) => setImmediate(resolve));
        await sql`update counted set n = ${(rows[0]?.n ?? 0) + 1}`.execute(trx);
      });
    await Promise.all(Array.from({ length: 50 }, add));
    expect((await sql<{ n: number }>`select n from counted`.execute(db)).rows).toEqual([{ n: 50 }]);
    await close();
    rmSync(folder, { recursive: true });
  });

  it("leaves out the failed one of transactions of one turn", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "tertulia-"));
    const { db, close } = await openDatabase({ dataDir, databaseUrl: undefined }, log);
    const add = (id: string, fails = false) =>
      db.transaction().execute(async (trx) => {
        await sql`insert into turns_together (id) values (${id})`.execute(trx);
        if (fails) throw new Error("no");
      });
    await sql`create table turns_together (id text unique)`.execute(db);
    const results = await Promise.allSettled([
      add("a"),
      add("b", true),
      sql`insert into turns_together values ('c')`.execute(db),
      sql`insert into turns_together values ('a')`.execute(db),
      add("d"),
    ]);
    // Another connection sees only what is committed.
    const beside = new DatabaseSync(join(dataDir, "tertulia.db"), { readOnly: true });
    const ids = beside.prepare("select id from turns_together order by id").all();
    beside.close();
    await close();
    rmSync(dataDir, { recursive: true });
    expect(results.map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
      "rejected",
      "fulfilled",
    ]);
    expect(ids.map(({ id }) => id)).toEqual(["a", "c", "d"]);
  });

  it("fails all writes of a turn that cannot be committed, and goes on", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "tertulia-"));
    const { db, close } = await openDatabase({ dataDir, databaseUrl: undefined }, log);
    await sql`create table turns_owners (id text primary key)`.execute(db);
    await sql`create table turns_owned (owner text references turns_owners deferrable initially deferred)`.execute(db);
    const results = await Promise.allSettled([
      sql`insert into turns_owners values ('a')`.execute(db),
      // Refused only by the commit.
      sql`insert into turns_owned values ('nobody')`.execute(db),
    ]);
    await sql`insert into turns_owners values ('b')`.execute(db);
    const { rows } = await sql`select id from turns_owners`.execute(db);
    await close();
    rmSync(dataDir, { recursive: true });
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(rows).toEqual([{ id: "b" }]);
  });

  it("is backed up while a transaction is open, without it", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "tertulia-"));
    const { db, backups, close } = await openDatabase({ dataDir, databaseUrl: undefined }, log);
    await sql`create table counted (n integer)`.execute(db);
    await sql`insert into counted values (1)`.execute(db);
    const backup = await db.transaction().execute(async (trx) => {
      await sql`insert into counted values (2)`.execute(trx);
      return backups?.make("prueba");
    });
    const copy = new DatabaseSync(backup?.path ?? "", { readOnly: true });
    const rows = copy.prepare("select n from counted").all();
    copy.close();
    await close();
    rmSync(dataDir, { recursive: true });
    expect(rows.map(({ n }) => n)).toEqual([1]);
  });

  it("waits in a transaction while a checkpoint holds the lock", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tertulia-"));
    const { db, close } = await openDatabase({ dataDir: folder, databaseUrl: undefined }, log);
    await sql`create table counted (n integer)`.execute(db);
    // Waiting blocks this thread, so another one holds the lock, as the last pass of a checkpoint does.
    const holder = new Worker(
      `const { parentPort, workerData } = require("node:worker_threads");
      const database = new (require("node:sqlite").DatabaseSync)(workerData);
      database.exec("begin immediate");
      parentPort.postMessage("held");
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
      database.exec("rollback");
      database.close();`,
      { eval: true, workerData: join(folder, "tertulia.db") },
    );
    const ended = once(holder, "exit");
    await once(holder, "message");
    await db.transaction().execute(async (trx) => {
      await sql`select n from counted`.execute(trx);
      await sql`insert into counted values (1)`.execute(trx);
    });
    expect((await sql<{ n: number }>`select n from counted`.execute(db)).rows).toEqual([{ n: 1 }]);
    await ended;
    await close();
    rmSync(folder, { recursive: true });
  });

  it("assigns open invitations to their inviters during an upgrade", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tertulia-"));
    const old = new Kysely<never>({ dialect: sqliteDialect(openSqlite(join(folder, "tertulia.db")), async () => {}) });
    await createMigrator(old as never, "sqlite").migrateTo("0037_grant_versions");
    await sql`insert into users (id, "createdAt", "updatedAt", name, email, "emailKey", "passwordHash", role, status)
      values ('ana', 1, 1, 'Ana', 'a@e.es', 'a@e.es', '', 'admin', 'active')`.execute(old);
    for (const id of ["suya", "de-nadie"]) {
      await sql`insert into invitations (id, "createdAt", "updatedAt", role, "expiresAt") values (${id}, 1, 1, 'user', 9)`.execute(
        old,
      );
    }
    await sql`insert into audit (id, "createdAt", "updatedAt", "actorId", action, resource, "resourceId", changes, ip)
      values ('1', 1, 1, 'ana', 'create', 'invitation', 'suya', '{}', ''), ('2', 1, 1, 'ida', 'create', 'invitation', 'de-nadie', '{}', '')`.execute(
      old,
    );
    await old.destroy();
    const { db, close } = await openDatabase({ dataDir: folder, databaseUrl: undefined }, log);
    const rows = await db.selectFrom("invitations").orderBy("id").select(["id", "inviterId"]).execute();
    expect(rows).toEqual([
      { id: "de-nadie", inviterId: null },
      { id: "suya", inviterId: "ana" },
    ]);
    await close();
    rmSync(folder, { recursive: true });
  });

  it("is backed up before a migration, and the copy opens", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tertulia-"));
    const old = new Kysely<never>({ dialect: sqliteDialect(openSqlite(join(folder, "tertulia.db")), async () => {}) });
    await createMigrator(old as never, "sqlite").migrateTo("0001_first");
    await old.destroy();
    const opened = await openDatabase({ dataDir: folder, databaseUrl: undefined }, log);
    await opened.close();
    const [copy = ""] = readdirSync(join(folder, "backups"));
    expect(copy).toMatch(/^antes-de-0002_search-/);
    const backup = new DatabaseSync(join(folder, "backups", copy), { readOnly: true });
    expect(backup.prepare("select count(*) as n from users").get()).toEqual({ n: 0 });
    backup.close();
    rmSync(folder, { recursive: true });
  });
});
