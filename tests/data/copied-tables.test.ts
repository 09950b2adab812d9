import { sql } from "kysely";
import { expect, it } from "vitest";
import { copiedTables } from "../../app/db/content.server.ts";
import { sqlite } from "../support/engines.ts";

it("copies referenced tables before the tables that refer to them", async () => {
  const database = await sqlite.open();
  try {
    const places = new Map(copiedTables.map((table, at) => [table as string, at]));
    const late: string[] = [];
    for (const [at, table] of copiedTables.entries()) {
      const { rows } = await sql<{ table: string }>`select "table" from pragma_foreign_key_list(${table})`.execute(
        database.db,
      );
      for (const { table: other } of rows) {
        if (other !== table && (places.get(other) ?? -1) > at) late.push(`${table} before ${other}`);
      }
    }
    expect(late).toEqual([]);
  } finally {
    await database.drop();
  }
});
