import { data } from "react-router";
import { apiContext, type Context } from "../../../web/context.ts";
import type { AnyAdminResource, Calls } from "../descriptions/description.ts";
import { resources } from "../descriptions/resources.server.ts";

/** A sentence about an action on an item of a resource: «Página creada.» */
export function said({ one, feminine }: AnyAdminResource, done: "cread" | "guardad" | "eliminad"): string {
  return `${one[0]?.toUpperCase()}${one.slice(1)} ${done}${feminine ? "a" : "o"}.`;
}

/** The resource of an address and its calls. Throws 404 for an unknown one. */
export function resourceOf(context: Context, path: string) {
  const resource = resources.find((one) => one.path === path);
  if (!resource) throw data(null, 404);
  // The type of each call has the fields of its resource; here one type stands for all resources.
  const calls = context.get(apiContext).api[resource.path as "group"] as unknown as Calls;
  return { resource, list: calls.$get, read: calls[":id"].$get, calls };
}

/** The resource of an address, with the calls that change its items. Throws 404 for a resource that is only read. */
export function changeable(context: Context, path: string) {
  const { calls, ...found } = resourceOf(context, path);
  const { changes } = found.resource;
  if (!changes) throw data(null, 404);
  const item = calls[":id"];
  return { ...found, create: calls.$post, change: item[`$${changes}`], remove: item.$delete };
}
