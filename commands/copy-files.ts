// `npm run archivos:copiar` copies the files in DATA_DIR/files to the bucket of STORAGE_URL and compares them. It can be run while
// the server runs, and again for what has come since.

import { join } from "node:path";
import { copyStorage } from "../app/files/storage/copy.server.ts";
import { FolderStorage } from "../app/files/storage/folder.server.ts";
import { openStorage } from "../app/files/storage/open.server.ts";
import { StorageUnavailable } from "../app/files/storage/storage.server.ts";
import { ConfigError, readInstalled } from "../app/process/config.server.ts";
import { createLog } from "../app/process/log.server.ts";
import { run } from "./run.ts";

await run(async () => {
  const config = readInstalled();
  if (!config.bucket) throw new ConfigError("Falta STORAGE_URL, el almacén adonde copiar.");
  const to = await openStorage(config, createLog("silent"));
  try {
    const { files, copied, bytes } = await copyStorage(new FolderStorage(join(config.dataDir, "files")), to);
    const megabytes = Math.ceil(bytes / 1_000_000).toLocaleString("es");
    console.log(`Hecho: ${files} ficheros comparados (${megabytes} MB); ${copied} no estaban y se han copiado.`);
    if (copied > 0)
      console.log("Arranca ahora con STORAGE_URL, y ejecútalo otra vez por lo que haya llegado entretanto.");
  } catch (error) {
    if (!(error instanceof StorageUnavailable)) throw error;
    throw new ConfigError("El almacén ha dejado de contestar. Ejecútalo otra vez: sigue donde estaba.", {
      cause: error,
    });
  } finally {
    to.close();
  }
});
