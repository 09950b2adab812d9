import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { z } from "zod";
import packageJson from "../../package.json" with { type: "json" };
import { hasMigration } from "../db/migrate.server.ts";
import { nameOf, readName, type Storage } from "../files/storage/storage.server.ts";
import { ConfigError } from "../process/config.server.ts";
import { objectOf } from "../process/text/json.ts";
import { type Contents, counts } from "./contents.server.ts";
import { checkDump, type DatabasePlace, dump, openCopy, openRestored, restoreDump } from "./database.server.ts";
import { momentOf, nameOfCopy, surplus } from "./kept.server.ts";
import type { BackupPlace } from "./place.server.ts";
import { CopySeal, copiesPrefix } from "./seal.server.ts";

/** Sources of a copy. `dir`: for temporary files, with room for the database twice. */
export type Sources = {
  database: DatabasePlace;
  storage: Storage;
  /** Master secret, which only goes along sealed. */
  secret: string;
  dir: string;
};
/** Description of a copy, which is stored last: a copy without one is not whole. `at` in epoch ms; `size` in bytes, of the packed database. */
const copySchema = z.object({
  name: z.string(),
  at: z.number(),
  version: z.string(),
  engine: z.enum(["sqlite", "postgres"]),
  migration: z.string(),
  counts,
  size: z.number(),
  isSealed: z.boolean(),
  files: z.array(z.string()),
});
export type Copy = z.output<typeof copySchema>;

const description = (name: string) => `${copiesPrefix}${name}.json`;
const data = "datos/";
const base = (name: string) => `${data}${name}/base.gz`;
const secretOf = (name: string) => `${data}${name}/secret`;
/** Says that a copy is being made. */
const begun = (name: string) => `${data}${name}/empezada`;
const shared = "archivos/";
// In ms: a copy that takes longer than this was broken off.
const madeWithin = 24 * 60 * 60_000;

/** Name of a stored file in the place. The files of all copies lie beside the copies, as each file is the same in all copies. */
const sharedName = (stored: string) => `${shared}${stored}`;

/**
 * Makes a copy: the database, the new files, and the secret if a passphrase seals it. The copy is fetched and opened before it counts;
 * then surplus copies are deleted. Throws ConfigError, or the error that the place or the database threw.
 */
export async function makeCopy(
  place: BackupPlace,
  passphrase: string | undefined,
  { database, storage, secret, dir }: Sources,
  at = Date.now(),
): Promise<Copy> {
  await sweep(dir);
  const temporary = await mkdtemp(join(dir, "copia-"));
  const raw = join(temporary, "base");
  const packed = join(temporary, "base.gz");
  const sealed = join(temporary, "sealed");
  try {
    const seal = await CopySeal.open(place, passphrase, temporary);
    const name = nameOfCopy(at);
    const put = async (as: string, path: string) => {
      await seal.seal(as, path, sealed);
      await place.put(as, sealed);
    };
    await writeFile(raw, "");
    await place.put(begun(name), raw);
    await rm(raw);
    const contents = await dump(database, raw);
    const files = await putFiles(place, storage, new Set(contents.fileIds), put);
    await pipeline(createReadStream(raw), createGzip(), createWriteStream(packed));
    await put(base(name), packed);
    if (seal.isSecret) {
      await writeFile(raw, secret);
      await put(secretOf(name), raw);
    }
    const { size } = await stat(packed);
    await bring(place, seal, base(name), { to: raw, temporary });
    if (database.engine === "postgres") await checkDump(raw);
    else compare(await openCopy(raw), contents);
    await checkFiles(place, seal, files, { sealed, raw });
    const copy: Copy = {
      name,
      at,
      version: packageJson.version,
      engine: database.engine,
      migration: contents.migration,
      counts: contents.counts,
      size,
      isSealed: seal.isSecret,
      files,
    };
    await writeFile(packed, JSON.stringify(copy));
    await place.put(description(name), packed);
    await prune(place, temporary, at);
    return copy;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Puts the files that the place does not have yet; returns the names of all files that the database refers to. */
async function putFiles(
  place: BackupPlace,
  storage: Storage,
  wanted: Set<string>,
  put: (as: string, path: string) => Promise<void>,
): Promise<string[]> {
  const there = new Set(await place.list(shared));
  const names: string[] = [];
  for await (const { id, variant } of storage.list()) {
    if (!wanted.has(id)) continue;
    const name = nameOf(id, variant);
    names.push(name);
    if (!there.has(sharedName(name))) await storage.lend(id, variant, (path) => put(sharedName(name), path));
  }
  return names;
}

/** Rejects unless all files of a copy are there, and the one that was stored last can be opened. */
async function checkFiles(
  place: BackupPlace,
  seal: CopySeal,
  files: string[],
  { sealed, raw }: { sealed: string; raw: string },
): Promise<void> {
  const there = new Set(await place.list(shared));
  const missing = files.find((name) => !there.has(sharedName(name)));
  // Another copy that was made meanwhile has deleted the file.
  if (missing) throw new Error(`${missing} is not among the copied files`);
  const last = files.at(-1);
  if (!last) return;
  await place.get(sharedName(last), sealed);
  await seal.open(sharedName(last), sealed, raw);
}

/** Deletes temporary files of copies that were broken off. */
async function sweep(dir: string): Promise<void> {
  for (const name of await readdir(dir)) {
    if (!/^copia-\w{6}$/.test(name)) continue;
    const path = join(dir, name);
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs > madeWithin) await rm(path, { recursive: true, force: true });
  }
}

/** Brings a packed file back, opened. */
async function bring(
  place: BackupPlace,
  seal: CopySeal,
  name: string,
  { to, temporary }: { to: string; temporary: string },
) {
  const [fetched, packed] = [join(temporary, "fetched"), join(temporary, "opened")];
  await place.get(name, fetched);
  await seal.open(name, fetched, packed);
  await pipeline(createReadStream(packed), createGunzip(), createWriteStream(to));
  await Promise.all([rm(fetched), rm(packed)]);
}

function compare(
  found: Pick<Contents, "counts" | "migration">,
  expected: Pick<Contents, "counts" | "migration">,
): void {
  if (JSON.stringify([found.counts, found.migration]) === JSON.stringify([expected.counts, expected.migration])) return;
  throw new Error("the copy does not hold what it was made of");
}

/** When the newest whole copy was made, in epoch ms; undefined if there is none. By names alone. */
export async function lastCopyAt(place: BackupPlace): Promise<number | undefined> {
  // A clock that was ahead has dated copies in the future; they would put off all others until then.
  const latest = Date.now() + clockMayDiffer;
  const moments = (await wholeNames(place))
    .flatMap((name) => momentOf(name) ?? [])
    .filter((moment) => moment <= latest);
  return moments.length > 0 ? Math.max(...moments) : undefined;
}

// In ms: clocks of several processes.
const clockMayDiffer = 60 * 60_000;

const wholeNames = async (place: BackupPlace): Promise<string[]> =>
  (await place.list(copiesPrefix)).flatMap((path) => {
    const name = path.slice(copiesPrefix.length, -".json".length);
    return path === description(name) && momentOf(name) !== undefined ? [name] : [];
  });

/** Copies of a place that are whole, the newest first. `unread`: how many descriptions are not as this program writes them. */
async function describeAll(place: BackupPlace, temporary: string): Promise<{ copies: Copy[]; unread: number }> {
  const names = (await wholeNames(place)).sort().reverse();
  const copies: Copy[] = [];
  for (const name of names) {
    const path = join(temporary, "copia.json");
    await place.get(description(name), path);
    const read = copySchema.safeParse(objectOf(await readFile(path, "utf8")));
    if (read.success) copies.push({ ...read.data, name });
  }
  return { copies, unread: names.length - copies.length };
}

/**
 * Deletes the copies that are not to be kept, what is left of broken ones, and files that no copy names any more. `now`: the moment of
 * the copy that has just been made. The data of a copy that is being made meanwhile stays; if a description is unreadable, all data stays.
 */
async function prune(place: BackupPlace, temporary: string, now: number): Promise<void> {
  const { copies, unread } = await describeAll(place, temporary);
  if (unread > 0) return;
  const gone = new Set(surplus(copies.map(({ name }) => name)));
  const kept = copies.filter(({ name }) => !gone.has(name));
  const names = new Set(kept.map(({ name }) => name));
  const nameIn = (path: string) => path.slice(data.length).split("/")[0] ?? "";
  const all = await place.list(data);
  const isBeside = (path: string) => {
    const name = nameIn(path);
    return !gone.has(name) && !names.has(name) && Math.abs(now - (momentOf(name) ?? 0)) < madeWithin;
  };
  await place.delete([...gone].map(description));
  await place.delete(all.filter((path) => !names.has(nameIn(path)) && !isBeside(path)));
  if (all.some(isBeside)) return;
  const files = new Set(kept.flatMap((copy) => copy.files.map(sharedName)));
  await place.delete((await place.list(shared)).filter((path) => !files.has(path)));
}

/** Goal of a restoration: an empty database, an empty store of files, and the file for the secret, if it is to come along. */
export type Goal = { database: DatabasePlace; storage: Storage; secretPath: string | undefined; dir: string };

/**
 * Restores a copy (by default the newest one) and compares it with its description. Throws ConfigError if there is no such copy, or a
 * part of the copy is missing.
 */
export async function restoreCopy(
  place: BackupPlace,
  passphrase: string | undefined,
  goal: Goal,
  wanted?: string,
): Promise<Copy> {
  const temporary = await mkdtemp(join(goal.dir, "copia-"));
  try {
    const seal = await CopySeal.open(place, passphrase, temporary);
    const { copies } = await describeAll(place, temporary);
    const copy = wanted ? copies.find(({ name }) => name === wanted) : copies[0];
    if (!copy) {
      const which = wanted ? `la copia ${wanted}` : "ninguna copia";
      throw new ConfigError(
        `En ${place.name} no está ${which}. Hay: ${copies.map(({ name }) => name).join(", ") || "nada"}.`,
      );
    }
    if (!hasMigration(copy.migration)) {
      const fits = copies.find(({ migration, engine }) => engine === copy.engine && hasMigration(migration));
      const advice = fits ? `Para esta, la última es ${fits.name}: nómbrala.` : "Para esta no hay ninguna.";
      throw new ConfigError(
        `La copia ${copy.name} es de una Tertulia más nueva (${copy.version}): instala esa versión u otra posterior. ${advice}`,
      );
    }
    if (copy.engine !== goal.database.engine) {
      const needs = copy.engine === "postgres" ? "DATABASE_URL de un PostgreSQL vacío" : "DATA_DIR, sin DATABASE_URL";
      throw new ConfigError(
        `La copia ${copy.name} es de ${copy.engine === "postgres" ? "PostgreSQL" : "SQLite"}: hace falta ${needs}.`,
      );
    }
    if (goal.database.engine === "sqlite") {
      await bring(place, seal, base(copy.name), { to: goal.database.path, temporary });
      compare(await openCopy(goal.database.path), copy);
    } else {
      const path = join(temporary, "base");
      await bring(place, seal, base(copy.name), { to: path, temporary });
      await restoreDump(path, goal.database.url);
      compare(await openRestored(goal.database.url), copy);
    }
    const [fetched, opened] = [join(temporary, "fetched"), join(temporary, "opened")];
    for (const name of copy.files) {
      const stored = readName(name);
      if (!stored) continue;
      await place.get(sharedName(name), fetched);
      await seal.open(sharedName(name), fetched, opened);
      await goal.storage.put(stored.id, stored.variant, opened);
    }
    if (goal.secretPath && copy.isSealed) {
      await place.get(secretOf(copy.name), fetched);
      await seal.open(secretOf(copy.name), fetched, opened);
      await writeFile(goal.secretPath, await readFile(opened), { mode: 0o600, flag: "wx" });
    }
    return copy;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}
