import { data, isRouteErrorResponse } from "react-router";
import type { Route } from "../+types/root";
import { forgetShown, isShown, recallShown } from "./pages-seen.ts";

// A proxy's when nothing is behind it, and our own pages' when their API is away.
const statuses = new Set([502, 503, 504]);

/** Whether a request came to nothing because nobody answered, or not to the end: what fetch throws then, or what was said instead. */
export const isUnanswered = (error: unknown) =>
  error instanceof TypeError ||
  (error instanceof Error && error.cause instanceof TypeError) ||
  (isRouteErrorResponse(error) && statuses.has(error.status));

const saysWhy = (error: unknown) => isRouteErrorResponse(error) && typeof error.data?.message === "string";

const message = "No se ha podido conectar con el servidor. Comprueba tu conexión y vuelve a intentarlo.";

/** Client middleware: where nobody answers a refresh, what can be read stays; a page gone to says why it is not there. */
export const keepShown: Route.ClientMiddlewareFunction = async ({ request }, next) => {
  const results = await next();
  if (request.method !== "GET") return;
  // Sent elsewhere, as when the session has ended: what it showed is not for whoever comes back without an answer.
  if (Object.values(results).some(({ result }) => result instanceof Response)) return forgetShown();
  const errors = Object.entries(results).filter(([, { type }]) => type === "error");
  if (!errors.some(([, { result }]) => isUnanswered(result))) return;
  const refreshed = isShown(request);
  for (const [routeId, { type, result }] of errors) {
    // Where one route has no answer, others are left without a result.
    if (refreshed && (isUnanswered(result) || result instanceof Error)) {
      results[routeId] = { type: "data", result: recallShown(routeId) };
    } else if (isUnanswered(result) && !saysWhy(result)) results[routeId] = { type, result: data({ message }, 503) };
  }
};
