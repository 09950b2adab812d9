import { redirect } from "react-router";
import { read } from "../../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../../web/context.ts";
import type { Route } from "./+types/check-audit";

/** «Comprobar la auditoría»: tells on the system page which entries are not as they were sealed. */
export async function action({ context }: Route.ActionArgs) {
  const { sealed, last, problems } = await read(context.get(apiContext).api.audit.check.$post());
  const session = context.get(sessionContext);
  if (problems.length > 0) {
    session.flash({
      type: "error",
      title: "La auditoría no está como se selló.",
      description: problems.join(" "),
      duration: 0,
    });
  } else {
    const description = last ? `El último es el ${last.seq}, con el sello ${last.hash}` : undefined;
    const title = `Los ${sealed.toLocaleString("es")} apuntes están como se sellaron.`;
    session.flash({ type: "success", title, ...(description && { description }), duration: 0 });
  }
  return redirect("/admin/sistema", 303);
}

export const loader = () => redirect("/admin/sistema");
