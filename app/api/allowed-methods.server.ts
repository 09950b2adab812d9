import type { OpenAPIHono } from "@hono/zod-openapi";
import type { ApiEnv } from "./env.server.ts";
import { Problem } from "./http/problem.server.ts";

type Api = OpenAPIHono<ApiEnv>;

const asPattern = (path: string) => new RegExp(`^${path.replace(/\{\w+\}|:\w+/g, "[^/]+")}$`);

/**
 * Refusals of calls that no route answers: 405 with the allowed methods if the path has routes, else 404. Call this once all routes are
 * registered.
 */
export function refusalsOf(api: Api): (path: string) => Problem {
  const methods = new Map<string, Set<string>>();
  for (const definition of api.openAPIRegistry.definitions) {
    if (definition.type !== "route") continue;
    const { path, method } = definition.route;
    const known = methods.get(path) ?? new Set();
    methods.set(path, known.add(method.toUpperCase()));
  }
  const known = [...methods].map(([path, those]) => ({ pattern: asPattern(path), those }));
  return (path) => {
    const found = new Set(known.flatMap(({ pattern, those }) => (pattern.test(path) ? [...those] : [])));
    if (found.size === 0) return new Problem(404, "Esta llamada no existe.");
    if (found.has("GET")) found.add("HEAD");
    const allowed = [...found].sort().join(", ");
    return new Problem(405, `Esta llamada se hace con ${allowed}.`, { headers: { Allow: allowed } });
  };
}
