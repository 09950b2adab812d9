import { replace, useLocation } from "react-router";
import { ApiProblem, accepted, read } from "../../answers.server.ts";
import { sessionContext } from "../../context.ts";
import { AlertDialog } from "../../ui/alert-dialog.tsx";
import { sendForm } from "../../ui/send-form.ts";
import type { Route } from "./+types/delete";
import { cellsOf } from "./cells.server.ts";
import { changeable, resourceOf } from "./resource.server.ts";

export const meta: Route.MetaFunction = ({ loaderData }) => [
  { title: `${loaderData?.title ?? "Eliminar"} · Tertulia` },
];
export const handle = { dialog: true };

export async function loader({ context, params: { resource: path, id } }: Route.LoaderArgs) {
  const { api } = resourceOf(context, path);
  const resource = changeable(context, path);
  const item = await read(api[":id"].$get({ param: { id } }));
  const [cells] = await cellsOf(context, resource.columns.slice(0, 1), [item]);
  return { title: `Eliminar ${resource.one}`, name: cells?.[0]?.text ?? "" };
}

export async function action({ context, params: { resource: path, id }, url }: Route.ActionArgs) {
  try {
    await accepted(resourceOf(context, path).api[":id"].$delete({ param: { id } }));
    context.get(sessionContext).flash({ type: "success", title: "Eliminado." });
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.status === 404 || error.status >= 500) throw error;
    context.get(sessionContext).flash({ type: "error", title: error.body.detail, duration: 0 });
  }
  return replace(`/admin/${path}${url.search}`, 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function Delete({ loaderData: { title, name }, params }: Route.ComponentProps) {
  const closeTo = `/admin/${params.resource}${useLocation().search}`;
  return (
    <AlertDialog title={title} closeTo={closeTo}>
      <p>«{name}» se borrará con todo lo que es suyo. No se puede deshacer.</p>
    </AlertDialog>
  );
}
