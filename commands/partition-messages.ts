// `npm run mensajes:partir` splits the table of messages by months, with PostgreSQL, while the server runs (docs/crecer.md).

import { openDatabase } from "../app/db/connection.server.ts";
import { whyUnavailable } from "../app/db/errors.server.ts";
import { BoundLeft, partitionMessages } from "../app/db/partitions/messages.server.ts";
import { ConfigError, readInstalled } from "../app/process/config.server.ts";
import { createLog } from "../app/process/log.server.ts";
import { run } from "./run.ts";

await run(async () => {
  const config = readInstalled();
  if (!config.databaseUrl)
    throw new ConfigError("Los mensajes se parten por meses con PostgreSQL: falta DATABASE_URL.");
  const { db, close } = await openDatabase(config, createLog("silent"));
  try {
    await partitionMessages(db, Date.now()).catch(explain);
    console.log("Hecho: cada mes tiene su tabla, y la limpieza de cada hora hace las que vengan.");
  } finally {
    await close();
  }
});

function explain(cause: unknown): never {
  if (cause instanceof BoundLeft) {
    throw new ConfigError(
      `Una consulta larga usa los mensajes, y ha quedado puesta la condición ${cause.message}, que el mes que viene los rechazaría: ejecútalo otra vez antes.`,
      { cause },
    );
  }
  if (whyUnavailable(cause) !== "busy") throw cause;
  throw new ConfigError("Una consulta larga usa los mensajes. No ha cambiado nada: ejecútalo otra vez más tarde.", {
    cause,
  });
}
