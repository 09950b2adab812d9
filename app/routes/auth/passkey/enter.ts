import { redirect } from "react-router";
import { objectOf } from "../../../process/text/json.ts";
import { accepted, read, refusalIn } from "../../../web/api-result.server.ts";
import { apiContext, formContext } from "../../../web/context.ts";
import { textOf } from "../../../web/forms/form.server.ts";
import type { Route } from "./+types/enter";

/** Called twice by the script of `page.tsx`: for the data that the key signs, then with the signed data. Errors are sentences. */
export async function action({ context, url: { origin } }: Route.ActionArgs) {
  const { passkey } = context.get(apiContext).auth.signin;
  const form = context.get(formContext);
  const signed = textOf(form, "response");
  try {
    if (!signed) return Response.json(await read(passkey.options.$post({ json: { origin } })));
    const response = objectOf(signed) ?? {};
    const json = { origin, ticket: textOf(form, "ticket"), response: { ...response, id: String(response.id) } };
    await accepted(passkey.$post({ json }));
    return Response.json({});
  } catch (error) {
    const { detail: message, status } = refusalIn(error, []);
    return Response.json({ message }, { status });
  }
}

export const loader = () => redirect("/auth/llave");
