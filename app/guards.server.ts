import { data, type MiddlewareFunction, type RouterContextProvider, redirect } from "react-router";
import { fetchSite } from "remix-utils/sec-fetch";
import { ApiProblem } from "./answers.server.ts";
import { formContext, sessionContext } from "./context.ts";
import { textOf, typedFields } from "./form.server.ts";
import { restoreDraft } from "./held-draft.server.ts";
import { currentPerson, getPerson } from "./person.server.ts";

/** The seed's auth rule: a visitor signs in first and comes back; a message that was being sent comes back too. */
export const requireAuth: MiddlewareFunction<Response> = async ({ request, context, url }) => {
  const session = context.get(sessionContext);
  const hadSession = session.signedIn;
  if (await getPerson(context).catch((error) => keepForm(error, request, context))) return;
  const path = url.pathname + url.search;
  if (request.method !== "GET" && request.method !== "HEAD") {
    const { formToken } = session;
    const held = typedFields(context.get(formContext));
    // A message goes back into its composer; any other form is sent again as it was.
    const action = "content" in held && path.startsWith("/conversation/") ? {} : { action: path };
    throw data({ formToken, personId: null, held: { ...held, ...action }, volver: returnPath(path) }, 401);
  }
  // A link in an e-mail arrives without the strict cookie; the same page asked for by itself has it.
  if (!hadSession && fetchSite(request) === "cross-site") return comeBack();
  if (hadSession) session.flash({ type: "error", title: "Session expirada, por favor inicia sesión nuevamente." });
  throw redirect(`/auth/signin?volver=${encodeURIComponent(path)}`);
};

/** Where the API does not answer, what was typed comes back with the page that says so. */
function keepForm(error: unknown, { method }: Request, context: Readonly<RouterContextProvider>): never {
  if (method === "GET" || method === "HEAD" || !(error instanceof ApiProblem) || error.status !== 503) throw error;
  const resend = Object.entries(typedFields(context.get(formContext)));
  throw data(
    { formToken: context.get(sessionContext).formToken, personId: null, resend, message: error.body.detail },
    503,
  );
}

/** The seed's guest rule: who has signed in has nothing to do here. */
export const requireGuest: MiddlewareFunction<Response> = async ({ request, context, url }) => {
  if (!(await getPerson(context))) return;
  if (request.method === "POST" && (heldAction(context.get(formContext)) || context.get(formContext).has("stay")))
    return;
  // Signed in meanwhile, in another tab: what was held behind this sign-in goes where it was going.
  const volver = safeReturn(url.searchParams.get("volver"));
  if (request.method === "POST") await restoreDraft(context, volver, context.get(formContext));
  throw redirect(volver);
};

/** The seed's user-active rule. After `requireAuth`. */
export const requireActive: MiddlewareFunction<Response> = async ({ context }) => {
  if ((await currentPerson(context)).user.status !== "active") throw redirect("/user");
};

function comeBack(): Response {
  return new Response(
    '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0"><title>Tertulia</title>',
    {
      headers: { "Content-Type": "text/html; charset=utf-8" },
    },
  );
}

// Where a resource route took the form, its chat is the place to come back to.
function returnPath(path: string): string {
  return /^\/conversation\/(chat|project)/.test(path) ? path : "/conversation/chat";
}

/** Where the form was going that a sign-in form holds, if that is a path of ours. */
export function heldAction(form: FormData): string | undefined {
  const path = textOf(form, "held.action");
  return path && safeReturn(path) === path ? path : undefined;
}

/** A local path to go to after sign-in; anything that a browser could read as another place is /user. */
export function safeReturn(volver: FormDataEntryValue | null): string {
  if (typeof volver !== "string" || !/^\/[a-z0-9]/i.test(volver)) return "/user";
  return /[^!-~]|[\\@]|%2f|%5c|\/\/|\.\./i.test(volver) ? "/user" : volver;
}
