import { redirect } from "react-router";
import { read, tellRefusal } from "../../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../../web/context.ts";
import type { Route } from "./+types/connected";

/** Address to which a server of tools sends a person back after their consent. The `state` proves that the consent was begun here. */
export async function loader({ context, params: { id }, url }: Route.LoaderArgs) {
  const json = { brought: url.searchParams.toString() };
  const ended = context.get(apiContext).api["tool-account"][":id"].end.$post({ param: { id }, json });
  await read(ended).then(
    ({ name }) =>
      context.get(sessionContext).flash({ type: "success", title: `Tu cuenta de «${name}» está conectada.` }),
    tellRefusal(context),
  );
  return redirect("/user/seguridad", 303);
}
