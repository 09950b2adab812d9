import type { Db } from "./engine.server.ts";
import { prepared } from "./prepared.server.ts";
import type { HouseRow } from "./tables.ts";

const houseRow = prepared((db) => db.selectFrom("house").selectAll());

/** The settings of the installation, read anew each time: another process may have changed them. */
export async function readHouse(db: Db): Promise<HouseRow> {
  const [row] = (await houseRow(db, {})).rows;
  if (!row) throw new Error("the row of the house is missing");
  return row;
}
