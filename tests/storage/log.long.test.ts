import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it, onTestFinished } from "vitest";
import { SharedSync } from "../../app/db/sqlite/shared-sync.server.ts";
import { openSqlite } from "../../app/db/sqlite/sqlite.server.ts";
import { createLog } from "../../app/process/log.server.ts";

const megabyte = 1024 * 1024;

it("the database log restarts under load, shrinks after, loses nothing", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tertulia-"));
  const path = join(folder, "tertulia.db");
  const handle = openSqlite(path);
  const sync = new SharedSync(path, createLog("silent"));
  onTestFinished(async () => {
    await sync.close();
    handle.close();
    rmSync(folder, { recursive: true });
  });
  handle.exec("create table written (n integer primary key, text text)");
  const write = handle.prepare("insert into written values (?, ?)");
  let written = 0;
  let begunAnew = 0;
  // The salt in the header of the log changes whenever it begins anew.
  const salt = () => readFileSync(`${path}-wal`).readUInt32BE(16);
  let before: number | undefined;
  while (begunAnew < 2 && written < 400) {
    // A megabyte at a time, as many exchanges at once.
    write.run(++written, "x".repeat(megabyte));
    await sync.synced();
    if (before !== undefined && salt() !== before) begunAnew++;
    before = salt();
  }
  expect(begunAnew).toBe(2);
  const length = () => statSync(`${path}-wal`).size;
  await expect.poll(length, { timeout: 60_000, interval: 500 }).toBeLessThanOrEqual(16 * megabyte);
  const other = new DatabaseSync(path, { readOnly: true });
  expect(other.prepare("select count(*) as n, sum(length(text)) as length from written").get()).toEqual({
    n: written,
    length: written * megabyte,
  });
  other.close();
});
