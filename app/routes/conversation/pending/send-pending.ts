import { redirect } from "react-router";
import { ApiProblem } from "../../../web/api-result.server.ts";
import { formContext } from "../../../web/context.ts";
import { placeOf } from "../../../web/forms/drafts.server.ts";
import { send } from "../composer/send.server.ts";
import type { Route } from "./+types/send-pending";

/**
 * Takes what was written without a line, as its own page would have, but leaves the draft alone that is there by now. Answers the
 * service worker (`public/sw.js`) whether it was taken, or why not; 409 while another reply is being written there.
 */
export async function action({ context }: Route.ActionArgs) {
  const form = context.get(formContext);
  // As with an edited message, the draft is another text.
  form.set("edits", "1");
  try {
    const result = await send(context, placeOf(form));
    if (result instanceof Response) return Response.json({});
    const { message, errors } = result.data;
    const waits = errors.parentId !== undefined && form.get("parentId") === null;
    return Response.json({ message: message ?? Object.values(errors)[0] ?? "" }, { status: waits ? 409 : 422 });
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.status !== 404) throw error;
    return Response.json({ message: "La conversación en la que se escribió ya no existe." }, { status: 422 });
  }
}

export const loader = () => redirect("/sin-conexion");
