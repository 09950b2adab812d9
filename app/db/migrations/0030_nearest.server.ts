import type { Kysely } from "kysely";

/** All that `nearestPassages` compares stands in the index, so that it reads no row but those that it picks. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.dropIndex("vectors_ownerId_version").execute();
  const columns = ["ownerId", "version", "ofMessage", "fileId", "bits", "seq"];
  await db.schema.createIndex("vectors_nearest").on("vectors").columns(columns).execute();
}
