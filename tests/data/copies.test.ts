import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeCopy, restoreCopy, type Sources } from "../../app/backups/copies.server.ts";
import { nameOfCopy, surplus } from "../../app/backups/kept.server.ts";
import { isDue } from "../../app/backups/nightly.server.ts";
import { type BackupPlace, openPlace } from "../../app/backups/place.server.ts";
import { FolderStorage } from "../../app/files/storage/folder.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { sqlite } from "../support/engines.ts";

const day = 24 * 60 * 60_000;
const passphrase = "una frase larga de verdad";
const folder = mkdtempSync(join(tmpdir(), "tertulia-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("copies that are kept", () => {
  it("are seven daily, four weekly and twelve monthly ones", () => {
    let kept: string[] = [];
    const first = Date.parse("2025-01-01T03:00:00Z");
    for (let night = 0; night < 730; night++) {
      kept.push(nameOfCopy(first + night * day));
      const gone = new Set(surplus(kept));
      kept = kept.filter((name) => !gone.has(name));
    }
    // The last night is Thursday, 31 December 2026.
    expect(kept.slice(-7)).toEqual([25, 26, 27, 28, 29, 30, 31].map((n) => `2026-12-${n}T03-00-00`));
    expect(kept).toContain("2026-12-20T03-00-00");
    expect(kept).toContain("2026-12-13T03-00-00");
    const months = kept.filter((name) => name < "2026-12").map((name) => name.slice(0, 10));
    expect(months).toEqual(
      ["01-31", "02-28", "03-31", "04-30", "05-31", "06-30", "07-31", "08-31", "09-30", "10-31", "11-30"].map(
        (end) => `2026-${end}`,
      ),
    );
  });

  it("are due nightly at three, or immediately when none exists", () => {
    const at = (text: string) => new Date(text);
    const last = at("2026-11-25T03:05:00").getTime();
    expect(isDue(undefined, at("2026-11-25T12:00:00"))).toBe(true);
    expect(isDue(last, at("2026-11-25T23:00:00"))).toBe(false);
    expect(isDue(last, at("2026-11-26T02:59:00"))).toBe(false);
    expect(isDue(last, at("2026-11-26T03:00:00"))).toBe(true);
  });
});

describe("a copy of an installation", () => {
  let api: Api;
  let ana: Account;
  let place: BackupPlace;
  let sources: Sources;
  let fileId: string;
  beforeAll(async () => {
    api = await openApi(sqlite);
    ana = await api.signUp("Ana");
    await api.converse(ana.token, { content: "¿Cuándo se riega la huerta?" });
    const { body } = await api.upload(ana.token, [new File(["La fianza es de 900 euros"], "contrato.txt")]);
    fileId = (body as { items: { id: string }[] }).items[0]?.id ?? "";
    place = await openPlace({ folder: join(folder, "place") });
    const { dataDir } = api.services.config;
    sources = {
      database: { engine: "sqlite", path: join(dataDir, "tertulia.db") },
      storage: new FolderStorage(join(dataDir, "files")),
      secret: "s".repeat(64),
      dir: dataDir,
    };
  });
  afterAll(async () => {
    place.close();
    await api.close();
  });
  const goal = (name: string) => {
    const dir = mkdtempSync(join(folder, `${name}-`));
    const storage = new FolderStorage(join(dir, "files"));
    const database = { engine: "sqlite" as const, path: join(dir, "tertulia.db") };
    return { dir, storage, database, secretPath: join(dir, "secret") };
  };

  it("is restored completely and unreadable without the passphrase", async () => {
    const copy = await makeCopy(place, passphrase, sources);
    expect(copy).toMatchObject({
      engine: "sqlite",
      isSealed: true,
      counts: { users: 1, chats: 1, messages: 2, files: 1 },
    });
    const into = goal("restored");
    expect(await restoreCopy(place, passphrase, into)).toEqual(copy);
    expect((await into.storage.read(fileId, "original"))?.toString()).toBe("La fianza es de 900 euros");
    expect(readFileSync(into.secretPath, "utf8")).toBe(sources.secret);
    for (const name of readdirSync(join(folder, "place"), { recursive: true, withFileTypes: true })) {
      if (name.isFile())
        expect(readFileSync(join(name.parentPath, name.name), "latin1")).not.toMatch(/fianza|SQLite|ssss/);
    }
    await expect(restoreCopy(place, "otra frase, también larga", goal("wrong"))).rejects.toThrow(
      /BACKUP_PASSPHRASE no es/,
    );
    await expect(restoreCopy(place, undefined, goal("none"))).rejects.toThrow(/están cifradas/);
  });

  it("stays restorable while kept, and expires with unused files", async () => {
    const plain = await openPlace({ folder: join(folder, "month") });
    const first = Date.parse("2026-10-20T03:00:00Z");
    for (let night = 0; night < 30; night++) await makeCopy(plain, undefined, sources, first + night * day);
    const names = (await plain.list("copias/")).map((path) => basename(path, ".json"));
    expect(names).toHaveLength(10);
    for (const name of names) await restoreCopy(plain, undefined, goal("night"), name);
    expect(await plain.list("archivos/")).toHaveLength(1);
    await sources.storage.delete([fileId]);
    for (let month = 1; month <= 13; month++)
      await makeCopy(plain, undefined, sources, first + (30 + 31 * month) * day);
    expect(await plain.list("archivos/")).toEqual([]);
  }, 600_000);

  it("stays complete when another copy finishes meanwhile", async () => {
    const busy = await openPlace({ folder: join(folder, "busy") });
    await makeCopy(busy, passphrase, sources, Date.parse("2026-11-01T03:00:00Z"));
    await api.upload(ana.token, [new File(["Otro contrato"], "otro.txt")]);
    const both = await Promise.all(
      ["2026-11-02T20:00:00Z", "2026-11-03T03:00:00Z"].map((at) => makeCopy(busy, passphrase, sources, Date.parse(at))),
    );
    for (const { name, files } of both) {
      expect(files.length).toBeGreaterThan(0);
      await restoreCopy(busy, passphrase, goal("busy"), name);
    }
  });

  it("of a newer version are refused, and one that fits is named", async () => {
    const mixed = await openPlace({ folder: join(folder, "mixed") });
    const { name: fits } = await makeCopy(mixed, undefined, sources, Date.parse("2026-12-01T03:00:00Z"));
    const { name: newer } = await makeCopy(mixed, undefined, sources, Date.parse("2026-12-02T03:00:00Z"));
    const path = join(folder, "mixed", "copias", `${newer}.json`);
    const described = JSON.parse(readFileSync(path, "utf8")) as object;
    writeFileSync(path, JSON.stringify({ ...described, migration: "0999_future" }));
    await expect(restoreCopy(mixed, undefined, goal("newer"))).rejects.toThrow(
      new RegExp(`Tertulia más nueva .* Para esta, la última es ${fits}`),
    );
    await restoreCopy(mixed, undefined, goal("fits"), fits);
  });

  it("with an unrecognized description is left alone and not restored", async () => {
    const odd = await openPlace({ folder: join(folder, "odd") });
    await makeCopy(odd, undefined, sources, Date.parse("2025-01-01T03:00:00Z"));
    writeFileSync(join(folder, "odd", "copias", "2025-01-01T03-00-00.json"), JSON.stringify({ files: "todos" }));
    await makeCopy(odd, undefined, sources);
    expect(await odd.list("datos/2025-01-01T03-00-00/")).not.toEqual([]);
    await restoreCopy(odd, undefined, goal("odd"));
    await expect(restoreCopy(odd, undefined, goal("odd"), "2025-01-01T03-00-00")).rejects.toThrow(/no está la copia/);
  });

  it("is refused encryption where unencrypted copies exist", async () => {
    const plain = await openPlace({ folder: join(folder, "plain") });
    await makeCopy(plain, undefined, sources);
    await expect(makeCopy(plain, passphrase, sources)).rejects.toThrow(/hay copias sin cifrar/);
  });

  it("is not restored when damaged or unfinished", async () => {
    const damaged = await openPlace({ folder: join(folder, "damaged") });
    const copy = await makeCopy(damaged, passphrase, sources);
    const base = join(folder, "damaged", "datos", copy.name, "base.gz");
    const bytes = readFileSync(base);
    bytes[100] = (bytes[100] ?? 0) ^ 1;
    writeFileSync(base, bytes);
    await expect(restoreCopy(damaged, passphrase, goal("damaged"))).rejects.toThrow();
    rmSync(join(folder, "damaged", "copias", `${copy.name}.json`));
    await expect(restoreCopy(damaged, passphrase, goal("broken"))).rejects.toThrow(/no está ninguna copia/);
  });
});
