import { read, refusalIn } from "../../../web/api-result.server.ts";
import { apiContext, formContext } from "../../../web/context.ts";
import { textOf } from "../../../web/forms/form.server.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import type { Route } from "./+types/call-tool";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];

export const loader = () => new Response(null, { status: 404 });

/** A call that a page of a server makes (`public/app-frame.js`), for the person who looks at it. */
export async function action({ context, params: { messageId: id, n } }: Route.ActionArgs) {
  const form = context.get(formContext);
  const json = { tool: textOf(form, "tool"), input: textOf(form, "input"), agreed: textOf(form, "agreed") === "1" };
  try {
    return Response.json(
      await read(context.get(apiContext).api.message[":id"].app[":n"].call.$post({ param: { id, n }, json })),
    );
  } catch (error) {
    const { detail, status } = refusalIn(error, [404]);
    return Response.json({ message: detail }, { status });
  }
}
