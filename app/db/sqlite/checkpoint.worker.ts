import { DatabaseSync } from "node:sqlite";
import { answerJob } from "../../process/child-process-entry.ts";

// In ms, to wait for a reader or a writer at the end. A writer then waits until the rest is copied and on the disk.
const patience = 100;

/**
 * Copies the log of a database in use into its file and has it begin anew. The first two passes stop nobody: the second one copies what
 * was written during the first. What little is left is copied while no one writes, or the log would never come to its end under load. At
 * rest the log is emptied as well. Answers whether the log begins anew.
 */
answerJob(({ path, isResting }: { path: string; isResting: boolean }) => {
  const database = new DatabaseSync(path);
  database.exec(`pragma synchronous = normal; pragma busy_timeout = ${patience}`);
  for (let pass = 0; pass < 2; pass++) database.exec("pragma wal_checkpoint(passive)");
  const { busy } = database.prepare(`pragma wal_checkpoint(${isResting ? "truncate" : "restart"})`).get() as {
    busy: number;
  };
  database.close();
  return busy === 0;
});
