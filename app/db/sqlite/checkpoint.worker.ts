import { DatabaseSync } from "node:sqlite";
import { answerJob } from "../../process/child-process-entry.ts";

/** Copies the log of a database in use into its file, as far as no reader is in the way. */
answerJob(({ path }: { path: string }) => {
  const database = new DatabaseSync(path);
  database.exec("pragma synchronous = normal; pragma wal_checkpoint(passive)");
  database.close();
  return true;
});
