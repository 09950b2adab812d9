// `npm run secretos:rotar`: another master secret, what was stored under the old one encrypted anew. With the server stopped.

import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Config, ConfigError, newSecretFile, readSettings } from "../app/config.server.ts";
import { openDatabase } from "../app/db/connection.server.ts";
import { reencrypt, secretKeys } from "../app/db/kept-secrets.server.ts";
import { createLog } from "../app/log.server.ts";
import { syncFolder } from "../app/synced.server.ts";
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

/** The new secret, on disk before anything is stored under it; one of a run that broke off is gone on with. */
function madeSecret(config: Config): string {
  const path = join(config.dataDir, newSecretFile);
  if (existsSync(path)) return readFileSync(path, "utf8").trim();
  const secret = randomBytes(32).toString("hex");
  writeFileSync(`${path}.part`, secret, { mode: 0o600, flush: true });
  move(config, `${newSecretFile}.part`, newSecretFile);
  return secret;
}

/** Renames in the data folder, its new name safe on disk too. */
function move({ dataDir }: Config, from: string, to: string): void {
  renameSync(join(dataDir, from), join(dataDir, to));
  syncFolder(dataDir);
}
