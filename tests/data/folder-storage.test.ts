import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { FolderStorage } from "../../app/files/storage/folder.server.ts";

const dir = mkdtempSync(join(tmpdir(), "tertulia-storage-"));
const storage = new FolderStorage(dir);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const files = () => readdirSync(dir, { recursive: true }).filter((name) => /\./.test(String(name)));

it("keeps simultaneous uploads of one file apart when one fails", async () => {
  const { promise: given, resolve: give } = Promise.withResolvers<void>();
  const whole = async function* () {
    yield Buffer.from("en");
    await given;
    yield Buffer.from("tero");
  };
  const cut = async function* () {
    yield Buffer.from("a medias");
    throw new Error("given up");
  };
  const storing = storage.put("019a-aa", "original", whole());
  await expect(storage.put("019a-aa", "original", cut())).rejects.toThrow("given up");
  give();
  await storing;
  expect(String(await storage.read("019a-aa", "original"))).toBe("entero");
  expect(files()).toEqual([join("aa", "019a-aa.original")]);
});

it("deletes abandoned partial files but not those in progress", async () => {
  mkdirSync(join(dir, "bb"), { recursive: true });
  const old = join(dir, "bb", "019a-bb.original.1.part");
  writeFileSync(old, "a medias");
  writeFileSync(join(dir, "bb", "019a-bb.original.2.part"), "en marcha");
  utimesSync(old, new Date(0), new Date(0));
  await storage.deleteUnfinished(Date.now() - 60_000);
  expect(readdirSync(join(dir, "bb"))).toEqual(["019a-bb.original.2.part"]);
  expect(String(await storage.read("019a-aa", "original"))).toBe("entero");
});
