import { redirect } from "react-router";
import { formContext } from "../../../web/context.ts";
import { placeOf } from "../../../web/forms/drafts.server.ts";
import { textOf } from "../../../web/forms/form.server.ts";
import { send } from "../composer/send.server.ts";
import { sharedTo } from "../share/shared-to.ts";
import { takeShared } from "../share/take-shared.server.ts";
import type { Route } from "./+types/send-pending";

/** Takes what was written without a line, as its own page would have; answers the service worker whether it was taken, or why not. */
export async function action({ context }: Route.ActionArgs) {
  const form = context.get(formContext);
  const isShared = textOf(form, "sentTo") === sharedTo;
  const result = await (isShared ? takeShared(context) : send(context, placeOf(form)));
  if (result instanceof Response) return Response.json({});
  const { message, errors } = result.data;
  return Response.json({ message: message ?? Object.values(errors)[0] ?? "" }, { status: 422 });
}

export const loader = () => redirect("/sin-conexion");
