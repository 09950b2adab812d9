import { data, isRouteErrorResponse } from "react-router";
import type { FormResult } from "../form.server.ts";

/** A form that the server did not take because its session had ended or its page was too old; `formToken` is the one that counts now. */
export type Unsent = { form: FormData; action: string; formToken: string; sessionEnded: boolean };

type Sending<Answer> = { request: Request; serverAction: () => Promise<Answer> };

let listener: (unsent: Unsent) => void = () => {};

/** Who is told of forms that were not taken: the sign-in dialog. */
export function onUnsent(tell: (unsent: Unsent) => void): void {
  listener = tell;
}

/** The client action of every form: sends it; what the server can't take now stays in its fields, and is sent again when it can. */
export async function sendForm<Answer>({ request, serverAction }: Sending<Answer>) {
  const kept = request.clone();
  try {
    return await serverAction();
  } catch (error) {
    const form = await kept.formData();
    if (isRouteErrorResponse(error) && (error.status === 401 || error.data?.resend)) {
      const { pathname, search } = new URL(request.url);
      const { formToken } = error.data;
      listener({ form, action: pathname + search, formToken, sessionEnded: error.status === 401 });
      // An error status, so that the router does not ask the loaders of a session that is not there.
      return data(null, error.status);
    }
    // What fetch throws when there is no answer; anything else goes its own way.
    if (!(error instanceof TypeError)) throw error;
    const values = Object.fromEntries([...form].map(([name, value]) => [name, String(value)]));
    const message = "No se ha podido conectar con el servidor. Lo que has escrito sigue aquí: envíalo otra vez.";
    return data<FormResult>({ values, errors: {}, message }, 503);
  }
}
