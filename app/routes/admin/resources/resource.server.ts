import { data } from "react-router";
import { apiContext, type Context } from "../../../web/context.ts";
import type { AdminResource } from "../descriptions/description.ts";
import { resources } from "../descriptions/resources.server.ts";

/** What has been done to one of a resource, said of it by name: «Página creada.» */
export function said({ one, feminine }: AdminResource, done: "cread" | "guardad" | "eliminad"): string {
  return `${one[0]?.toUpperCase()}${one.slice(1)} ${done}${feminine ? "a" : "o"}.`;
}

/** The resource of an address and its calls. Throws 404 for an unknown one. */
export function resourceOf(context: Context, path: string) {
  const resource = resources.find((one) => one.path === path);
  if (!resource) throw data(null, 404);
  return { resource, ...resource.reads(context.get(apiContext).api) };
}

/** The same with the calls that change it. Throws 404 for what is only read. */
export function changeable(context: Context, path: string) {
  const found = resourceOf(context, path);
  const writes = found.resource.writes?.(context.get(apiContext).api);
  if (!writes) throw data(null, 404);
  return { ...found, ...writes };
}
