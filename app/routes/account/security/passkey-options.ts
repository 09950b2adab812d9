import { redirect } from "react-router";
import { read, refusalIn } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import type { Route } from "./+types/passkey-options";

/** For the script that adds a passkey: what the device makes it of. Errors are sentences. */
export async function action({ context, url: { origin } }: Route.ActionArgs) {
  try {
    return Response.json(await read(context.get(apiContext).auth.passkey.options.$post({ json: { origin } })));
  } catch (error) {
    const { detail: message, status } = refusalIn(error, []);
    return Response.json({ message }, { status });
  }
}

export const loader = () => redirect("/user/seguridad/llaves/crear");
