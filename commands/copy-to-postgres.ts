// `npm run datos:copiar`: all that the embedded database of DATA_DIR holds, into the empty PostgreSQL of DATABASE_URL. With the server stopped.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { ConfigError, readConfig } from "../app/config.server.ts";
import { openDatabase } from "../app/db/connection.server.ts";
import { copyContent } from "../app/db/content.server.ts";
import { createLog } from "../app/log.server.ts";
import { run } from "./run.ts";

await run(async () => {
  const config = readConfig();
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
