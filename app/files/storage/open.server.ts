import { join } from "node:path";
import { ConfigError } from "../../process/config.server.ts";
import type { Log } from "../../process/log.server.ts";
import type { BucketSettings } from "../../process/storage-url.server.ts";
import { FolderStorage } from "./folder.server.ts";
import { type Storage, StorageUnavailable } from "./storage.server.ts";

// Problems that don't go away by waiting, by the name of the SDK's error or the status of the answer.
const sentences: Record<string, string> = {
  CredentialsProviderError: "STORAGE_URL necesita sus claves: AWS_ACCESS_KEY_ID y AWS_SECRET_ACCESS_KEY",
  RequestTimeTooSkewed: "STORAGE_URL: la hora de esta máquina no es la del almacén: ponla bien",
  InvalidAccessKeyId: "STORAGE_URL: el almacén no conoce AWS_ACCESS_KEY_ID",
  SignatureDoesNotMatch: "STORAGE_URL: AWS_SECRET_ACCESS_KEY no es la de AWS_ACCESS_KEY_ID",
  AuthorizationHeaderMalformed: "STORAGE_URL: el almacén es de otra región: dila con region=",
  ExpiredToken: "STORAGE_URL: las claves del almacén han caducado",
  "301": "STORAGE_URL: ese contenedor está en otra región",
  "403": "STORAGE_URL: el almacén no deja entrar en ese contenedor con AWS_ACCESS_KEY_ID y AWS_SECRET_ACCESS_KEY",
  "404": "STORAGE_URL: en el almacén no hay un contenedor con ese nombre",
};

/**
 * Storage of files' bytes: in a bucket, or in `files` of the data folder. Throws ConfigError where the bucket can't be used; a store that
 * does not answer is only logged, as it may come back.
 */
export async function openStorage(
  { dataDir, bucket }: { dataDir: string; bucket: BucketSettings | undefined },
  log: Log,
): Promise<Storage> {
  if (!bucket) return new FolderStorage(join(dataDir, "files"));
  // Loaded where it is used: the SDK takes 20 MB of memory.
  const { BucketStorage } = await import("./bucket.server.ts");
  const storage = new BucketStorage(bucket);
  try {
    await storage.check();
  } catch (error) {
    if (!(error instanceof StorageUnavailable)) throw error;
    const { name = "", $metadata }: { name?: string; $metadata?: { httpStatusCode?: number } } = Object(error.cause);
    const sentence = sentences[name] ?? sentences[$metadata?.httpStatusCode ?? ""];
    if (sentence) throw new ConfigError(`${sentence}.`, { cause: error });
    log.error(
      { endpoint: bucket.endpoint ?? `AWS, ${bucket.region}`, cause: error.message },
      "el almacén de archivos no contesta",
    );
  }
  return storage;
}
