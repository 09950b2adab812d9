// `npm run restaurar` puts the newest copy of BACKUP_URL, or the one that is named, into an empty DATA_DIR (or an empty DATABASE_URL), and
// compares. `npm run restaurar -- --simulacro` does it in a folder of its own, says how long it took and how old the copy is, and deletes it.

import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Goal, restoreCopy } from "../app/backups/copies.server.ts";
import { openPlace } from "../app/backups/place.server.ts";
import { FolderStorage } from "../app/files/storage/folder.server.ts";
import { openStorage } from "../app/files/storage/open.server.ts";
import { type Config, ConfigError, readToRestore } from "../app/process/config.server.ts";
import { createLog } from "../app/process/log.server.ts";
import { run } from "./run.ts";

const drill = "--simulacro";

// The restored data is for the user of the service alone.
process.umask(0o077);

await run(async () => {
  const [asked] = process.argv.slice(2);
  const isDrill = asked === drill;
  const config = readToRestore();
  if (!config.backup) throw new ConfigError("Falta BACKUP_URL, donde están las copias: una carpeta o un almacén S3.");
  if (isDrill && config.databaseUrl) {
    throw new ConfigError(
      "El simulacro de PostgreSQL pide otra base vacía: pon su dirección en DATABASE_URL y ejecuta npm run restaurar.",
    );
  }
  const dir = isDrill ? await mkdtemp(join(tmpdir(), "tertulia-simulacro-")) : config.dataDir;
  const place = await openPlace(config.backup);
  const began = Date.now();
  try {
    const goal = isDrill ? folderGoal(dir, true) : await ownGoal(config);
    const copy = await restoreCopy(place, config.backupPassphrase, goal, isDrill ? undefined : asked);
    goal.storage.close();
    const seconds = ((Date.now() - began) / 1000).toLocaleString("es", { maximumFractionDigits: 1 });
    const hours = ((Date.now() - copy.at) / 3_600_000).toLocaleString("es", { maximumFractionDigits: 1 });
    const { chats, messages } = copy.counts;
    console.log(
      `Copia ${copy.name} restaurada y comparada: ${chats} conversaciones, ${messages} mensajes, ${copy.files.length} ficheros.`,
    );
    console.log(`Tiempo de restauración (RTO): ${seconds} s. Edad de la copia (RPO): ${hours} h.`);
    if (!isDrill && !copy.isSealed)
      console.log("El secreto no va en la copia: pon el tuyo (SESSION_SECRET o DATA_DIR/secret) antes de arrancar.");
  } finally {
    place.close();
    if (isDrill) await rm(dir, { recursive: true, force: true });
  }
});

function folderGoal(dir: string, withSecret: boolean): Goal {
  return {
    database: { engine: "sqlite", path: join(dir, "tertulia.db") },
    storage: new FolderStorage(join(dir, "files")),
    secretPath: withSecret ? join(dir, "secret") : undefined,
    dir,
  };
}

/** The installation of the settings, if it is empty. */
async function ownGoal(config: Config): Promise<Goal> {
  const taken = (await readdir(config.dataDir)).filter((name) => !name.startsWith("copia-"));
  if (taken.length > 0)
    throw new ConfigError(`DATA_DIR (${config.dataDir}) tiene que estar vacía: hay ${taken.join(", ")}.`);
  const own = folderGoal(config.dataDir, !config.secretGiven && !existsSync(join(config.dataDir, "secret")));
  return {
    ...own,
    ...(config.databaseUrl && { database: { engine: "postgres" as const, url: config.databaseUrl } }),
    storage: await openStorage(config, createLog("warn")),
  };
}
