// `npm run mudanza -- --from open-webui --database webui.db --uploads uploads` brings a whole house from another program: people, groups,
// chats, files, projects, prompts, assistants and knowledge. `--dry-run` says what would come. Again, it adds what is new.

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { v7 as newId } from "uuid";
import { type House, HouseUnreadable } from "../app/api/imports/houses/house.server.ts";
import { libreChatHouse } from "../app/api/imports/houses/librechat-house.server.ts";
import { type Moved, movedInWords, moveHouse } from "../app/api/imports/houses/move-house.server.ts";
import { openWebUiHouse } from "../app/api/imports/houses/open-webui-house.server.ts";
import { appendAudit } from "../app/db/audit/append.server.ts";
import { type Database, openDatabase } from "../app/db/connection.server.ts";
import { Processes } from "../app/db/processes/processes.server.ts";
import { Files } from "../app/files/files.server.ts";
import { openStorage } from "../app/files/storage/open.server.ts";
import { JobFailed, Jobs } from "../app/jobs/jobs.server.ts";
import { type Config, ConfigError, readConfig } from "../app/process/config.server.ts";
import { hashToken } from "../app/process/crypto.server.ts";
import { createLog } from "../app/process/log.server.ts";
import { Changes } from "../app/realtime/changes.server.ts";
import { run } from "./run.ts";

const usage =
  "Así: npm run mudanza -- --from open-webui --database webui.db --uploads uploads [--dry-run] [--enlaces enlaces.csv]\no, de LibreChat: npm run mudanza -- --from librechat --database dump/LibreChat --uploads uploads";
// In ms: long enough for people to come back from their holidays.
const linksLive = 30 * 24 * 60 * 60_000;

const withoutWayIn =
  "Las cuentas nuevas no tienen contraseña: entran por vuestro proveedor la primera vez, piden una con «He olvidado la contraseña», o, con --enlaces enlaces.csv, cada una tiene un enlace para ponerla.";

await run(async () => {
  const asked = readArguments();
  const config = readConfig();
  const house = openHouse(asked);
  const log = createLog("warn");
  const database = await openDatabase(config, log);
  const folder = mkdtempSync(join(tmpdir(), "tertulia-mudanza-"));
  try {
    const { db, engine, clock } = database;
    const storage = await openStorage(config, log);
    const processes = new Processes({ db, engine, clock, log });
    // Documents are read by the server, when it runs again.
    const jobs = new Jobs({ db, engine, clock, processes, changes: new Changes(database.notices), log });
    const files = new Files({ db, engine, storage, jobs });
    await jobs.close();
    const told = (chats: number, of: number) => {
      if (chats % 500 === 0) console.log(`${chats.toLocaleString("es")} de ${of.toLocaleString("es")} conversaciones…`);
    };
    const services = { db, files, folder, now: () => clock.now(), told };
    const moved = await moveHouse(services, house, asked.isTried).catch((error) => {
      throw error instanceof JobFailed || error instanceof HouseUnreadable
        ? new ConfigError(error.message, { cause: error })
        : error;
    });
    for (const sentence of movedInWords(moved, asked.isTried)) console.log(sentence);
    if (asked.isTried) return;
    await db.transaction().execute((trx) => appendAudit(trx, { action: "create", resource: "move" }));
    if (asked.links) await writeLinks(database, config, moved, asked.links);
    else if (moved.made.length > 0) console.log(withoutWayIn);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    house.close();
    await database.close();
  }
});

type Asked = {
  from: string;
  database: string;
  uploads: string | undefined;
  isTried: boolean;
  links: string | undefined;
};

/** Throws ConfigError. */
function readArguments(): Asked {
  const text = { type: "string" } as const;
  try {
    const { values } = parseArgs({
      options: { from: text, database: text, uploads: text, enlaces: text, "dry-run": { type: "boolean" } },
    });
    if (!values.from || !values.database) throw new ConfigError(usage);
    return {
      from: values.from,
      database: values.database,
      uploads: values.uploads,
      isTried: values["dry-run"] === true,
      links: values.enlaces,
    };
  } catch (cause) {
    throw new ConfigError(usage, { cause });
  }
}

/** Throws ConfigError. */
function openHouse({ from, database, uploads }: Asked): House {
  try {
    if (from === "open-webui") return openWebUiHouse(database, uploads);
    if (from === "librechat") return libreChatHouse(database, uploads);
  } catch (error) {
    throw error instanceof HouseUnreadable ? new ConfigError(error.message, { cause: error }) : error;
  }
  throw new ConfigError(`No se conoce «${from}»: la mudanza es de open-webui o de librechat.`);
}

/** A link for each new account, with which its person chooses a password. */
async function writeLinks({ db, clock }: Database, config: Config, { made }: Moved, path: string): Promise<void> {
  const base = config.publicUrl ?? `http://localhost:${config.port}`;
  const now = clock.now();
  const lines = ["correo,enlace"];
  for (const { id: userId, email } of made) {
    const token = randomBytes(32).toString("base64url");
    const row = { tokenHash: hashToken(token), expiresAt: now + linksLive, updatedAt: now, opens: 0 as const };
    await db
      .insertInto("passwordResets")
      .values({ id: newId(), createdAt: now, userId, ...row })
      .onConflict((conflict) => conflict.column("userId").doUpdateSet(row))
      .execute();
    lines.push(`${email},${base}/auth/reset/${token}`);
  }
  writeFileSync(path, `${lines.join("\n")}\n`, { mode: 0o600 });
  console.log(
    `En ${path} hay un enlace para cada cuenta nueva (${made.length}), con el que pone su contraseña. Valen 30 días.`,
  );
}
