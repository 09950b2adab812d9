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

/** Redirects people who are signed in away from sign-in pages, except with a form that carries another or stays in a dialog. */
export const requireGuest: MiddlewareFunction<Response> = async ({ request, context, url }) => {
  if (!(await getCurrentUser(context))) return;
  if (request.method === "POST" && (carriedIn(context.get(formContext)) || context.get(formContext).has("stay")))
    return;
  throw redirect(safeReturn(url.searchParams.get("volver")));
};

/**
 * Somebody whose account is not active goes to the page that says so, and who owes a second step or terms, to these and back. A form is let
 * through: the API refuses it with a sentence, and what was written stays. After `requireAuth`.
 */
export const requireActive: MiddlewareFunction<Response> = async ({ request, context, url }) => {
  const person = await requireUser(context);
  if (person.user.status !== "active") throw redirect("/user");
  sendToOwed(person, request, url);
};

/** Sends an administrator who opens what is somebody else's to the form that asks what for, and from there back. */
export const askPurpose: MiddlewareFunction<Response> = async ({ request, context, url }, next) => {
  const answer = await next();
  const asked = context.get(purposeContext)();
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (asked === undefined || !isRead || answer.status !== 403) return answer;
  throw redirect(`/admin/${asked}/leer?volver=${encodeURIComponent(url.pathname + url.search)}`);
};

type Owing = { owesTerms: boolean; owesSecondStep: boolean };

/** Throws the way to the second step, or to the terms and from there back, for a page that is read by somebody who owes one of them. */
export function sendToOwed({ owesTerms, owesSecondStep }: Owing, request: Request, url: URL): void {
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (!isRead || !(owesTerms || owesSecondStep)) return;
  const page = owesSecondStep ? "/user/seguridad" : "/user/condiciones";
  throw redirect(`${page}?volver=${encodeURIComponent(url.pathname + url.search)}`);
}

/** A page that loads its own address anew, which then counts as a visit from here. */
export function comeBack(): Response {
  return new Response(
    '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0"><title>Un momento…</title>',
    {
      headers: { "Content-Type": "text/html; charset=utf-8" },
    },
  );
}
