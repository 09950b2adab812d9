// `npm run secretos:rotar` replaces the master secret and re-encrypts the stored secrets with the new one. The server must
// be stopped.

import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../app/db/connection.server.ts";
import { reencrypt, secretKeys } from "../app/db/stored-secrets.server.ts";
import { type Config, ConfigError, newSecretFile, readSettings } from "../app/process/config.server.ts";
import { syncFolder } from "../app/process/fsync.server.ts";
import { createLog } from "../app/process/log.server.ts";
import { run } from "./run.ts";

await run(async () => {
  const config = readSettings();
  const inFolder = !config.secretGiven;
  if (config.secretGiven && !config.newSecret) {
    throw new ConfigError("Con SESSION_SECRET hace falta también SESSION_SECRET_NEW, el secreto que va a sustituirlo.");
  }
  const { db, close } = await openDatabase(config, createLog("warn"));
  try {
    const { done, lost } = await reencrypt(
      db,
      secretKeys(config.secret),
      secretKeys(config.newSecret ?? madeSecret(config)),
    );
    if (inFolder) move(config, newSecretFile, "secret");
    console.log(`Hecho. Cifrado de nuevo: ${done}.`);
    if (lost > 0) console.log(`Sin poder leerse, tampoco con el secreto anterior: ${lost}.`);
    if (!inFolder) console.log("Pon ahora en SESSION_SECRET lo que hay en SESSION_SECRET_NEW.");
    console.log("Las sesiones se han cerrado y los códigos de recuperación de antes ya no valen.");
  } finally {
    await close();
  }
});

/**
 * The new secret. It is on disk before anything is encrypted with it, and an interrupted rotation continues with the one
 * that it had written.
 */
function madeSecret(config: Config): string {
  const path = join(config.dataDir, newSecretFile);
  if (existsSync(path)) return readFileSync(path, "utf8").trim();
  const secret = randomBytes(32).toString("hex");
  writeFileSync(`${path}.part`, secret, { mode: 0o600, flush: true });
  move(config, `${newSecretFile}.part`, newSecretFile);
  return secret;
}

/** Renames a file in the data folder, and syncs the folder so that the new name survives a power loss. */
function move({ dataDir }: Config, from: string, to: string): void {
  renameSync(join(dataDir, from), join(dataDir, to));
  syncFolder(dataDir);
}
