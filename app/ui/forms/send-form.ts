import { data, isRouteErrorResponse } from "react-router";
import type { FormResult } from "../../web/forms/form.server.ts";
import type { UnsentForm } from "../../web/forms/unsent-form.server.ts";
import { isKept, keepForm } from "../navigation/offline.ts";
import { isUnanswered } from "./unanswered.ts";

/** An unsent form of this page, with all that it had. */
export type UnsentHere = Pick<UnsentForm, "action" | "formToken" | "personId" | "entries"> & { form: FormData };

type Submission<Answer> = { request: Request; serverAction: () => Promise<Answer> };

let listener: (unsent: UnsentHere) => void = () => {};

/** The listener for refused forms: the sign-in dialog. */
export function onUnsent(tell: (unsent: UnsentHere) => void): void {
  listener = tell;
}

/** Waits for the server to come back; resolves to whether a form that did not arrive is sent again. */
type Wait = (form: FormData, error: unknown) => Promise<boolean>;
let whenBack: Wait = async () => false;

export function onUnanswered(wait: Wait): void {
  whenBack = wait;
}

/** Marks a form that is sent for the second time, to avoid an endless loop. */
export const sentAgain = "sentAgain";

// In ms: after a write its page is loaded; nothing else may load it before, or it would consume the flash.
const settles = 1000;
let underway = 0;
let lastSent = Number.NEGATIVE_INFINITY;

/** Whether this page is sending a form or did so a moment ago. */
export const isSending = () => underway > 0 || performance.now() - lastSent < settles;

/**
 * Client action of every form. If the server is unreachable or the session has ended, the form keeps its values and is
 * resent later.
 */
export async function sendForm<Answer>({ request, serverAction }: Submission<Answer>) {
  const kept = request.clone();
  underway++;
  try {
    return await serverAction();
  } catch (error) {
    const form = await kept.formData();
    const refused =
      isRouteErrorResponse(error) && (error.status === 401 || error.status === 403) && error.data?.fields
        ? error
        : undefined;
    if (refused && !(form.has(sentAgain) && refused.status === 403)) {
      const { pathname, search } = new URL(request.url);
      const { formToken, personId, entries }: UnsentForm = refused.data;
      listener({ form, action: pathname + search, formToken, personId, ...(entries && { entries }) });
      // An error status, so that the router does not revalidate without a session.
      return data(null, refused.status);
    }
    if (!isUnanswered(error)) throw error;
    if (await whenBack(form, error)) return data(notTaken(form), 503);
    // When the form is kept, the page is left.
    const waits = isKept() && form.has("key") && form.has("writtenBy") && !isRouteErrorResponse(error);
    if (waits && (await keepForm(form, new URL(request.url).pathname))) return new Promise<never>(() => {});
    form.delete("sentTo");
    const message = "No se ha podido conectar con el servidor. Lo que has escrito sigue aquí: envíalo otra vez.";
    return data<FormResult>({ ...notTaken(form), message }, 503);
  } finally {
    underway--;
    lastSent = performance.now();
  }
}

/** The texts of a form; a file counts as an empty one. */
export const textsOf = (form: FormData): Record<string, string> =>
  Object.fromEntries([...form].map(([name, value]) => [name, typeof value === "string" ? value : ""]));

/** The result for a form that did not reach the server. */
export const notTaken = (form: FormData): FormResult => ({ values: textsOf(form), errors: {} });
