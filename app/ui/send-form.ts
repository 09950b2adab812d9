import { data, isRouteErrorResponse } from "react-router";
import type { FormResult } from "../form.server.ts";
import { isUnanswered } from "./unanswered.ts";

/**
 * A form that the server did not take because its session had ended or its page was too old. `formToken` is the one that
 * counts now, `personId` whose session it belongs to; null: nobody's.
 */
export type Unsent = { form: FormData; action: string; formToken: string; personId: string | null };

type Sending<Answer> = { request: Request; serverAction: () => Promise<Answer> };

let listener: (unsent: Unsent) => void = () => {};

/** Who is told of forms that were not taken: the sign-in dialog. */
export function onUnsent(tell: (unsent: Unsent) => void): void {
  listener = tell;
}

/** Marks a form that is sent for the second time: refused once more, it would go round in circles. */
export const sentAgain = "sentAgain";

// After a write comes its page; till then nothing else may ask for it, or it would take the notice along.
const settles = 1000;
let underway = 0;
let lastSent = Number.NEGATIVE_INFINITY;

/** Whether this page is writing, or was a moment ago. */
export const isSending = () => underway > 0 || performance.now() - lastSent < settles;

/** The client action of every form: sends it; what the server can't take now stays in its fields, and is sent again when it can. */
export async function sendForm<Answer>({ request, serverAction }: Sending<Answer>) {
  const kept = request.clone();
  underway++;
  try {
    return await serverAction();
  } catch (error) {
    const form = await kept.formData();
    const refused =
      isRouteErrorResponse(error) && (error.status === 401 || (error.status === 403 && error.data?.resend))
        ? error
        : undefined;
    if (refused && !(form.has(sentAgain) && refused.status === 403)) {
      const { pathname, search } = new URL(request.url);
      const { formToken, personId } = refused.data;
      listener({ form, action: pathname + search, formToken, personId });
      // An error status, so that the router does not ask the loaders of a session that is not there.
      return data(null, refused.status);
    }
    if (!isUnanswered(error)) throw error;
    const message = "No se ha podido conectar con el servidor. Lo que has escrito sigue aquí: envíalo otra vez.";
    return data<FormResult>({ ...notTaken(form), message }, 503);
  } finally {
    underway--;
    lastSent = performance.now();
  }
}

/** What a form shows again that the server has not even seen. */
export function notTaken(form: FormData): FormResult {
  const values = Object.fromEntries([...form].map(([name, value]) => [name, typeof value === "string" ? value : ""]));
  return { values, errors: {} };
}
