import type { Context } from "hono";
import { readHouse } from "../../db/house.server.ts";
import { knownZone } from "../../process/time-zones.server.ts";
import type { ApiEnv } from "../env.server.ts";

/** The time zone of whoever calls: the one that the call says (`Time-Zone`), else the house's, else UTC. */
export async function zoneOfCall(c: Context<ApiEnv>): Promise<string> {
  const said = c.req.header("Time-Zone");
  return knownZone(said ?? (await readHouse(c.var.services.db)).timeZone ?? undefined);
}
