import { zoneOf } from "../process/time-zones.server.ts";
import type { Client } from "./api-client.server.ts";
import { read } from "./api-result.server.ts";
import { apiContext, type Context } from "./context.ts";

export type PublicHouse = Awaited<ReturnType<typeof askHouse>>;

const houses = new WeakMap<Client, Promise<PublicHouse>>();

/** The house as it presents itself, fetched from the API once per request. */
export function getHouse(context: Context): Promise<PublicHouse> {
  const api = context.get(apiContext);
  const house = houses.get(api) ?? askHouse(api);
  houses.set(api, house);
  return house;
}

const askHouse = (api: Client) => read(api.api.house.public.$get());

/** The time zone of whoever asks: their browser's, else the house's. */
export const zoneOfPerson = async (context: Context, request: Request): Promise<string> =>
  zoneOf(request) ?? (await getHouse(context)).timeZone;
