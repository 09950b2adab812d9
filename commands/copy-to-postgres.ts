// `npm run datos:copiar` copies all rows of the SQLite database in DATA_DIR into the empty PostgreSQL database at
// DATABASE_URL. The server must be stopped.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../app/db/connection.server.ts";
import { copyContent } from "../app/db/content.server.ts";
import { ConfigError, readInstalled } from "../app/process/config.server.ts";
import { createLog } from "../app/process/log.server.ts";
import { run } from "./run.ts";

await run(async () => {
  const config = readInstalled();
  const log = createLog("warn");
  if (!config.databaseUrl) throw new ConfigError("Falta DATABASE_URL, la base de datos de PostgreSQL adonde copiar.");
  if (!existsSync(join(config.dataDir, "tertulia.db"))) {
    throw new ConfigError(`En DATA_DIR (${config.dataDir}) no hay ninguna base de datos que copiar.`);
  }
  const from = await openDatabase({ ...config, databaseUrl: undefined }, log);
  try {
    const to = await openDatabase(config, log);
    try {
      if (await to.db.selectFrom("users").select("id").limit(1).executeTakeFirst()) {
        throw new ConfigError("La base de datos de DATABASE_URL ya tiene cuentas: hace falta una vacía.");
      }
      const rows = await copyContent(from.db, to.db);
      console.log(`Hecho: ${rows} filas, y las dos bases comparadas tabla por tabla.`);
      console.log("Arranca ahora con DATABASE_URL y el mismo DATA_DIR: los archivos y el secreto siguen ahí.");
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
});
