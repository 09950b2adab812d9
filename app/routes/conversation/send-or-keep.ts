import { data } from "react-router";
import type { FormResult } from "../../form.server.ts";

/** Sends what the composer holds; where the server can't be reached, the composer says so and keeps it. */
export async function sendOrKeep<Result>(request: Request, sendIt: () => Promise<Result>) {
  const form = await request.clone().formData();
  try {
    return await sendIt();
  } catch (error) {
    // What fetch throws when there is no answer; anything that the server answered goes its own way.
    if (!(error instanceof TypeError)) throw error;
    const values = Object.fromEntries([...form].map(([name, value]) => [name, String(value)]));
    const message = "No se ha podido conectar con el servidor. Tu mensaje sigue aquí: envíalo otra vez.";
    // An error status, so that the router does not ask the loaders of a server that is not there.
    return data<FormResult>({ values, errors: {}, message }, 503);
  }
}
