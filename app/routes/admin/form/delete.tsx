import { redirect, replace, useLocation } from "react-router";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { named } from "../../../ui/navigation/page-title.ts";
import { AlertDialog } from "../../../ui/overlays/alert-dialog.tsx";
import { accepted, read, tellRefusal, whenStatus } from "../../../web/api-result.server.ts";
import { sessionContext } from "../../../web/context.ts";
import { cellsOf } from "../resources/cells.server.ts";
import { goesAlong } from "../resources/goes-along.server.ts";
import { changeable, said } from "../resources/resource.server.ts";
import type { Route } from "./+types/delete";

export const meta: Route.MetaFunction = ({ loaderData, matches }) => named(matches, loaderData?.title ?? "Eliminar");
export const handle = { dialog: true };

export async function loader({ context, params: { resource: path, id } }: Route.LoaderArgs) {
  const { resource, read: readItem } = changeable(context, path);
  const elsewhere = await resource.deletedAt?.(context, id);
  if (elsewhere) throw redirect(elsewhere);
  // Administrators can delete items of other people without reading them.
  const item = await read(readItem({ param: { id } })).catch(whenStatus(403, undefined));
  const [cells] = item ? await cellsOf(context, resource.columns.slice(0, 1), [item]) : [];
  const along = await goesAlong(context, resource, [id]);
  const name = cells?.[0]?.text;
  const [definite, indefinite] = resource.feminine ? ["la", "una"] : ["el", "un"];
  const what = name ? `${definite} ${resource.one} «${name}»` : `${indefinite} ${resource.one} de otra persona`;
  return { title: `Eliminar ${resource.one}`, what, along };
}

export async function action({ context, params: { resource: path, id }, url }: Route.ActionArgs) {
  const { resource, remove } = changeable(context, path);
  await accepted(remove({ param: { id } })).then(
    () => context.get(sessionContext).flash({ type: "success", title: said(resource, "eliminad") }),
    tellRefusal(context),
  );
  return replace(`/admin/${path}${url.search}`, 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function Delete({ loaderData: { title, what, along }, params }: Route.ComponentProps) {
  const closeTo = `/admin/${params.resource}${useLocation().search}`;
  return (
    <AlertDialog title={title} closeTo={closeTo}>
      <p>
        Se borrará {what}
        {along && `, y con ello ${along}`}. No se puede deshacer.
      </p>
    </AlertDialog>
  );
}
