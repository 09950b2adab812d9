import { redirect } from "react-router";
import { ApiProblem, read } from "../../../web/api-result.server.ts";
import { apiContext, type Context, formContext } from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";
import { placeOf } from "../../../web/forms/drafts.server.ts";
import { textOf } from "../../../web/forms/form.server.ts";
import { send } from "../composer/send.server.ts";
import type { Route } from "./+types/send-pending";

/**
 * Takes a message that was written offline, as its own page would have, but leaves another draft alone that is there by now. Tells the
 * service worker (`public/sw.js`) whether the message was taken, or why not; 409 while another reply is being written there.
 */
export async function action({ context }: Route.ActionArgs) {
  const form = context.get(formContext);
  for (const button of ["intent", "remove"]) form.delete(button);
  try {
    // The draft is another text, and is kept as for an edited message.
    if (!(await isDraft(context, textOf(form, "content")))) form.set("edits", "1");
    const result = await send(context, placeOf(form));
    if (result instanceof Response) return Response.json({});
    const { message, errors } = result.data;
    const busy = errors.parentId !== undefined && form.get("parentId") === null;
    const status = busy ? 409 : (result.init?.status ?? 422);
    return Response.json({ message: message ?? Object.values(errors)[0] ?? "" }, { status });
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.status !== 404) throw error;
    return Response.json({ message: "La conversación en la que se escribió ya no existe." }, { status: 422 });
  }
}

/** Whether a text is the draft of its place, or goes on from that draft, which is saved now and then while somebody writes. */
async function isDraft(context: Context, content: string): Promise<boolean> {
  const { api } = context.get(apiContext);
  const { chatId, projectId } = placeOf(context.get(formContext));
  const { draft } = chatId
    ? await read(api.chat[":id"].$get({ param: { id: chatId } }))
    : projectId
      ? await read(api.project[":id"].$get({ param: { id: projectId } }))
      : (await requireUser(context)).user;
  return draft !== null && content.trim().startsWith(draft.content.trim());
}

export const loader = () => redirect("/sin-conexion");
