import { join } from "node:path";
import type { Services } from "../api/env.server.ts";
import { type Db, openDatabase } from "../db/connection.server.ts";
import { countLost, secretKeys } from "../db/stored-secrets.server.ts";
import { Files } from "../files/files.server.ts";
import { sweepReceived } from "../http/multipart.server.ts";
import type { Config } from "../process/config.server.ts";
import { deriveKey } from "../process/crypto.server.ts";
import { createLog, type Log } from "../process/log.server.ts";
import { Mail } from "../process/mail.server.ts";
import { openRedis } from "../process/redis.server.ts";
import { Changes } from "../realtime/changes.server.ts";
import { guardConnections } from "../replies/providers/addresses.server.ts";
import { lookForModels } from "../replies/providers/discover.server.ts";
import { Runs } from "../replies/runs.server.ts";

const sweepEvery = 60 * 60_000;
const dayLong = 24 * 60 * 60_000;

/** What a process has opened. Without `services` the API is on another machine, and this process serves only pages. */
export type Opened = (
  | { services: Services; config: Config }
  | { services: undefined; config: Config & { apiBaseUrl: string } }
) & {
  log: Log;
  /** Lets running replies end for `patience` ms, then closes everything. */
  close(patience: number): Promise<void>;
};

/** Opens database and replies for this process: migrates, finds interrupted replies, makes the first models. */
export async function openServices(config: Config): Promise<Opened> {
  guardConnections();
  const log = createLog(config.logLevel);
  const { db, engine, backups, notices, close } = await openDatabase(config, log);
  const keys = secretKeys(config.secret);
  const lost = await countLost(db, keys);
  if (lost.models + lost.authenticators > 0) {
    log.warn(lost, "hay claves y segundos pasos que no se pueden leer: se guardaron con otro secreto");
  }
  const running = {
    db,
    engine,
    log,
    modelKey: keys.modelKey,
    modelSilence: config.modelSilence,
    changes: new Changes(notices),
  };
  const files = new Files(db, join(config.dataDir, "files"));
  const runs = new Runs({ ...running, storage: files.storage });
  const sweepOrLog = () => sweep(db, files).catch((error) => log.error({ err: error as Error }, "no se pudo barrer"));
  const swept = sweepOrLog();
  const sweeping = setInterval(sweepOrLog, sweepEvery).unref();
  const mail = await Mail.open(config.mail, log);
  const redis = config.redisUrl ? await openRedis(config.redisUrl, log) : undefined;
  const interrupted = await runs.markInterrupted();
  if (interrupted > 0) log.warn({ interrupted }, "respuestas interrumpidas por el último cierre");
  // Not awaited: model servers may be slow to answer.
  const discovery = lookForModels(running, config);
  return {
    services: {
      ...running,
      runs,
      mail,
      files,
      storage: files.storage,
      backups,
      redis,
      config,
      tokenKey: deriveKey(config.secret, "session tokens"),
      authenticatorKey: keys.authenticatorKey,
    },
    config,
    log,
    async close(patience) {
      await discovery.stop();
      clearInterval(sweeping);
      await swept;
      await Promise.all([runs.close(patience), mail.close()]);
      redis?.destroy();
      await close();
    },
  };
}

/** Removes files that were never sent, expired sessions (with their temporary chats) and old idempotency keys. */
async function sweep(db: Db, files: Files): Promise<void> {
  await db.deleteFrom("sessions").where("refreshExpiresAt", "<", Date.now()).execute();
  await db
    .deleteFrom("idempotency")
    .where("createdAt", "<", Date.now() - dayLong)
    .execute();
  await files.sweep();
  await sweepReceived();
}
