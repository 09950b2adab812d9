import { type MiddlewareFunction, redirect } from "react-router";
import { fetchSite } from "remix-utils/sec-fetch";
import { read } from "./api-result.server.ts";
import { apiContext, formContext, purposeContext, sessionContext } from "./context.ts";
import { getCurrentUser, requireUser } from "./current-user.server.ts";
import { carriedIn, carrying, unsent } from "./forms/unsent-form.server.ts";
import { safeReturn } from "./safe-return.server.ts";

/** Sends visitors to sign-in and back; a form whose session had ended is carried along. */
export const requireAuth: MiddlewareFunction<Response> = async ({ request, context, url }) => {
  const session = context.get(sessionContext);
  const hadSession = session.signedIn;
  const path = url.pathname + url.search;
  const isRead = request.method === "GET" || request.method === "HEAD";
  const asked = getCurrentUser(context);
  const person = await (isRead ? asked : asked.catch(carrying(context, context.get(formContext), path)));
  if (person) return;
  if (!isRead) {
    const entries = await read(context.get(apiContext).auth.options.$get());
    throw unsent(401, context, context.get(formContext), { action: path, entries });
  }
  // A link from elsewhere arrives without the SameSite=Strict cookie; a reload from our own page has it.
  if (!hadSession && fetchSite(request) === "cross-site") return comeBack();
  if (hadSession) session.flash({ type: "error", title: "Session expirada, por favor inicia sesión nuevamente." });
  throw redirect(`/auth/signin?volver=${encodeURIComponent(path)}`);
};

/** Redirects people who are signed in away from sign-in pages, except for a form that carries an unsent form or stays in a dialog. */
export const requireGuest: MiddlewareFunction<Response> = async ({ request, context, url }) => {
  if (!(await getCurrentUser(context))) return;
  if (request.method === "POST" && (carriedIn(context.get(formContext)) || context.get(formContext).has("stay")))
    return;
  throw redirect(safeReturn(url.searchParams.get("volver")));
};

/**
 * Sends a person whose account is not active to the page that says so, and a person who owes a second step or terms to these and back. A
 * form is let through: the API refuses it with a sentence, and the typed text stays. Runs after `requireAuth`.
 */
export const requireActive: MiddlewareFunction<Response> = async ({ request, context, url }) => {
  const person = await requireUser(context);
  if (person.user.status !== "active") throw redirect("/user");
  sendToOwed(person, request, url);
};

/** Sends an administrator who opens another person's thing to the form that asks for the purpose, which leads back. */
export const askPurpose: MiddlewareFunction<Response> = async ({ request, context, url }, next) => {
  const answer = await next();
  const asked = context.get(purposeContext)();
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (asked === undefined || !isRead || answer.status !== 403) return answer;
  throw redirect(`/admin/${asked}/leer?volver=${encodeURIComponent(url.pathname + url.search)}`);
};

type Owing = { owesTerms: boolean; owesSecondStep: boolean };

/** Throws a redirect to the second step or the terms, which lead back, if a person who owes one of them reads a page. */
export function sendToOwed({ owesTerms, owesSecondStep }: Owing, request: Request, url: URL): void {
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (!isRead || !(owesTerms || owesSecondStep)) return;
  const page = owesSecondStep ? "/user/seguridad" : "/user/condiciones";
  throw redirect(`${page}?volver=${encodeURIComponent(url.pathname + url.search)}`);
}

/** A page that reloads its own address; the reload counts as a visit from here. */
export function comeBack(): Response {
  return new Response(
    '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0"><title>Un momento…</title>',
    {
      headers: { "Content-Type": "text/html; charset=utf-8" },
    },
  );
}
