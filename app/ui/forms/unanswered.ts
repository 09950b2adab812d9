import { data, isRouteErrorResponse } from "react-router";
import type { Route } from "../../+types/root";
import { isKept } from "../navigation/offline.ts";
import { forgetShown, isShown, recallShown } from "../navigation/pages-seen.ts";
import { isWriting } from "./writing.ts";

// Statuses of proxies without a backend, and of our own pages while their API is unreachable.
const statuses = new Set([502, 503, 504]);

/** Whether an error means that the server was unreachable or the response was cut off. */
export const isUnanswered = (error: unknown) =>
  error instanceof TypeError ||
  (error instanceof Error && error.cause instanceof TypeError) ||
  (isRouteErrorResponse(error) && statuses.has(error.status));

const saysWhy = (error: unknown) => isRouteErrorResponse(error) && typeof error.data?.message === "string";

const message = "No se ha podido conectar con el servidor. Vuelve a intentarlo.";

// In ms.
const askedAgainAfter = 1000;

/** Opens a page as a document. Text typed in this page would be lost: the page stays until the server answers or the browser is offline. */
async function leaveFor({ url, signal }: Request): Promise<never> {
  let answers = false;
  while (!answers && navigator.onLine && isWriting() && !signal.aborted) {
    // The first request waits: a server that is about to end may still answer.
    await new Promise((done) => setTimeout(done, askedAgainAfter));
    answers = await fetch("/ready").then(
      ({ ok }) => ok,
      () => false,
    );
  }
  if (!signal.aborted) location.assign(url);
  return new Promise(() => {});
}

/** Client middleware: if the server is unreachable during a refresh, the page stays; a navigation shows the reason. */
export const keepShown: Route.ClientMiddlewareFunction = async ({ request }, next) => {
  const results = await next();
  if (request.method !== "GET") return;
  // The request was redirected, as when the session has ended: the data shown must not come back later from the cache.
  if (Object.values(results).some(({ result }) => result instanceof Response)) return forgetShown();
  const errors = Object.entries(results).filter(([, { type }]) => type === "error");
  if (!errors.some(([, { result }]) => isUnanswered(result))) return;
  const refreshed = isShown(request);
  const noLine = errors.some(([, { result }]) => isUnanswered(result) && !isRouteErrorResponse(result));
  // The service worker shows its copy of the page, or which other pages it has.
  if (!refreshed && noLine && isKept()) return leaveFor(request);
  for (const [routeId, { type, result }] of errors) {
    // When one route fails, others have no result either.
    if (refreshed && (isUnanswered(result) || result instanceof Error)) {
      results[routeId] = { type: "data", result: recallShown(routeId) };
    } else if (isUnanswered(result) && !saysWhy(result)) results[routeId] = { type, result: data({ message }, 503) };
  }
};
