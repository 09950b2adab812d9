import { DatabaseSync } from "node:sqlite";
import { answerJob } from "../../process/child-process-entry.ts";

// In ms: how long the last pass waits for a reader or a writer. A writer then waits until the rest is copied and on the disk.
const patience = 100;

/**
 * Copies the log of a database in use into its file and makes the log begin anew. The first two passes block nobody: the second one
 * copies the pages written during the first. The last pass copies the few remaining pages while writers wait, or the log would never
 * end under load. At rest the log is emptied as well. Answers whether the log begins anew.
 */
answerJob(({ path, isResting }: { path: string; isResting: boolean }) => {
  const database = new DatabaseSync(path);
  database.exec(`pragma synchronous = normal; pragma busy_timeout = ${patience}`);
  for (let pass = 0; pass < 2; pass++) database.exec("pragma wal_checkpoint(passive)");
  const told = database.prepare(`pragma wal_checkpoint(${isResting ? "truncate" : "restart"})`).get();
  database.close();
  return told?.busy === 0;
});
