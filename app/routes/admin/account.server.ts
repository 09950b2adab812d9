import { accepted, read } from "../../web/api-result.server.ts";
import { apiContext, type Context, formContext, sessionContext } from "../../web/context.ts";
import { textOf } from "../../web/forms/form.server.ts";
import { showUse } from "../../web/plan-use-in-words.server.ts";
import { zoneContext } from "./zone.server.ts";

const failuresShown = 5;

/** Information for supporting a person: the plan, its limits, how much is used, and the latest failed replies. */
export async function accountOf(context: Context, id: string) {
  const { api } = context.get(apiContext);
  const zone = context.get(zoneContext);
  const filter = JSON.stringify({ userId: id, status: "failed" });
  const [use, failed] = await Promise.all([
    read(api.user[":id"].use.$get({ param: { id } })),
    read(api.message.$get({ query: { filter, limit: String(failuresShown) } })),
  ]);
  const moment = new Intl.DateTimeFormat("es", { dateStyle: "short", timeStyle: "short", timeZone: zone });
  return {
    use: showUse(use, Date.now(), zone),
    failures: failed.items.map((item) => ({
      id: item.id,
      at: moment.format(Date.parse(item.createdAt)),
      error: item.error ?? "Falló sin decir por qué.",
    })),
  };
}

/** «Cerrar sus sesiones». */
export async function signOut(context: Context, id: string): Promise<void> {
  if (textOf(context.get(formContext), "intent") !== "signout") return;
  await accepted(context.get(apiContext).api.user[":id"].sessions.$delete({ param: { id } }));
  const title = "Sus sesiones están cerradas y sus claves ya no valen.";
  context.get(sessionContext).flash({ type: "success", title });
}
