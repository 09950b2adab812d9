import { data, isRouteErrorResponse } from "react-router";
import type { Route } from "../+types/root";
import { isShown, recallShown } from "./pages-seen.ts";

// A proxy's when nothing is behind it, and our own pages' when their API is away.
const statuses = new Set([502, 503, 504]);

/** Whether a request came to nothing because nobody answered: what fetch throws then, or what was said instead. */
export const isUnanswered = (error: unknown) =>
  error instanceof TypeError || (isRouteErrorResponse(error) && statuses.has(error.status));

const saysWhy = (error: unknown) => isRouteErrorResponse(error) && typeof error.data?.message === "string";

const message = "No se ha podido conectar con el servidor. Comprueba tu conexión y vuelve a intentarlo.";

/** Client middleware: where nobody answers a refresh, what can be read stays; a page gone to says why it is not there. */
export const keepShown: Route.ClientMiddlewareFunction = async ({ request }, next) => {
  const results = await next();
  if (request.method !== "GET") return;
  const refreshed = isShown(request);
  for (const [routeId, { type, result }] of Object.entries(results)) {
    if (type !== "error" || !isUnanswered(result)) continue;
    if (refreshed) results[routeId] = { type: "data", result: recallShown(routeId) };
    else if (!saysWhy(result)) results[routeId] = { type, result: data({ message }, 503) };
  }
};
