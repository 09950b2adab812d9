import { redirect } from "react-router";
import { read, refusalIn } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import type { Route } from "./+types/passkey-options";

/** Options from which the device makes a passkey, for the script that adds one. Errors are sentences. */
export async function action({ context, url: { origin } }: Route.ActionArgs) {
  try {
    return Response.json(await read(context.get(apiContext).auth.passkey.options.$post({ json: { origin } })));
  } catch (error) {
    const { detail: message, status } = refusalIn(error, []);
    return Response.json({ message }, { status });
  }
}

export const loader = () => redirect("/user/seguridad/llaves/crear");
