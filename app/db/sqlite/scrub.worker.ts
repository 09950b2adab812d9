import { DatabaseSync } from "node:sqlite";
import { answerJob } from "../../process/child-process-entry.ts";

/**
 * Removes from a copied database what must not be in a backup: temporary chats with everything that belongs to them, and deleted
 * content that is still in free pages. Works on databases of older versions too. `from`: a database in use, which is copied first.
 */
answerJob(({ path, from }: { path: string; from?: string }) => {
  if (from) {
    const source = new DatabaseSync(from, { readOnly: true });
    source.prepare("vacuum into ?").run(path);
    source.close();
  }
  const copy = new DatabaseSync(path);
  copy.exec("pragma foreign_keys = on; pragma journal_mode = delete; pragma synchronous = off");
  for (const table of ["chats", "files", "artifacts"]) {
    const columns = copy.prepare(`select name from pragma_table_info('${table}')`).all();
    if (columns.some(({ name }) => name === "sessionId"))
      copy.exec(`delete from ${table} where "sessionId" is not null`);
  }
  // Guests of rooms, with the names that they have given.
  if (hasTable(copy, "rooms")) copy.exec(`delete from sessions where "roomId" is not null`);
  // Jobs from the time of the copy, such as e-mails; and words, which may come from a temporary chat's files and are learnt again.
  for (const table of ["jobs", "words"]) if (hasTable(copy, table)) copy.exec(`delete from ${table}`);
  // The full-text index keeps deleted words until it is merged.
  if (hasTable(copy, "passages_index")) copy.exec("insert into passages_index(passages_index) values ('rebuild')");
  copy.exec("vacuum; pragma journal_mode = wal");
  copy.close();
  return true;
});

function hasTable(copy: DatabaseSync, name: string): boolean {
  return copy.prepare("select name from sqlite_master where name = ?").get(name) !== undefined;
}
