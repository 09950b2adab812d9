import { z } from "zod";
import { readHouse } from "../../db/house.server.ts";
import type { JobRules } from "../../jobs/jobs.server.ts";
import { findNewModels } from "../../replies/providers/discover.server.ts";
import type { Services } from "../env.server.ts";

const every = 60 * 60_000;
// By the clock of the house: model servers and people rest.
const hour = 4;

const memory = z.object({ day: z.string().optional() });

/**
 * Asks all servers of models once a night for new models, which are off until an administrator chooses them. The first run only
 * notes the day, because the servers are asked at each start anyway.
 */
export const searchingModels = (
  services: Pick<Services, "db" | "engine" | "log" | "modelKey" | "config" | "clock">,
): JobRules => ({
  atOnce: 1,
  retries: [],
  every,
  async work({ data, remember }) {
    const { timeZone } = await readHouse(services.db);
    const now = new Date(services.clock.now());
    const zoned = { timeZone: timeZone ?? "UTC" };
    const day = now.toLocaleDateString("sv", zoned);
    const { day: last } = memory.parse(JSON.parse(data));
    const isNight = Number(now.toLocaleTimeString("sv", { ...zoned, hour: "2-digit" })) >= hour;
    if (last !== undefined && (last === day || !isNight)) return;
    await remember(JSON.stringify({ day }));
    if (last !== undefined) await findNewModels(services, services.config, { areOff: true });
  },
});
