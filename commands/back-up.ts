// `npm run copia` makes a copy of the installation in BACKUP_URL now, also while the server runs, and opens it to see that it is good.

import { makeCopy } from "../app/backups/copies.server.ts";
import { sourcesOf } from "../app/backups/nightly.server.ts";
import { openPlace } from "../app/backups/place.server.ts";
import { openStorage } from "../app/files/storage/open.server.ts";
import { ConfigError, readInstalled } from "../app/process/config.server.ts";
import { createLog } from "../app/process/log.server.ts";
import { run } from "./run.ts";

await run(async () => {
  const config = readInstalled();
  if (!config.backup) throw new ConfigError("Falta BACKUP_URL, adonde van las copias: una carpeta o un almacén S3.");
  const place = await openPlace(config.backup);
  const storage = await openStorage(config, createLog("warn"));
  try {
    const { name, size, counts, files, isSealed } = await makeCopy(
      place,
      config.backupPassphrase,
      sourcesOf(config, storage),
    );
    const megabytes = (size / 1_000_000).toLocaleString("es", { maximumFractionDigits: 1 });
    console.log(
      `Copia ${name} en ${place.name}, comprobada: ${counts.chats} conversaciones, ${counts.messages} mensajes, ${files.length} ficheros; la base ocupa ${megabytes} MB.`,
    );
    if (!isSealed) console.log("Sin BACKUP_PASSPHRASE no se cifra, y el secreto no va dentro: guárdalo aparte.");
  } finally {
    storage.close();
    place.close();
  }
});
