import { replace, useLocation } from "react-router";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { named } from "../../../ui/navigation/page-title.ts";
import { accepted } from "../../../web/api-result.server.ts";
import { sessionContext } from "../../../web/context.ts";
import type { AnyAdminResource } from "../descriptions/description.ts";
import { suggestionsFor } from "../resources/references.server.ts";
import { changeable, said } from "../resources/resource.server.ts";
import type { Route } from "./+types/create";
import { labelled, sendResource, valuesOf } from "./form-values.server.ts";
import { ResourceDialog } from "./resource-dialog.tsx";

export const meta: Route.MetaFunction = ({ loaderData, matches }) => named(matches, loaderData?.title ?? "Crear");
export const handle = { dialog: true };

const fieldsOf = ({ fields }: AnyAdminResource) => fields.filter(({ only }) => only !== "edit");

export async function loader({ context, params }: Route.LoaderArgs) {
  const { resource } = changeable(context, params.resource);
  const fields = fieldsOf(resource);
  const presets = (resource.presets ?? []).map(({ name, label }) => ({ name, label }));
  const values = await valuesOf(context, fields);
  const suggestions = await suggestionsFor(context, fields);
  return {
    title: `Crear ${resource.one}`,
    fields: await labelled(context, resource, fields),
    values,
    presets,
    suggestions,
  };
}

export function action({ context, params, url }: Route.ActionArgs) {
  const { resource, create } = changeable(context, params.resource);
  return sendResource(context, resource, fieldsOf(resource), async (json) => {
    await accepted(create({ json }));
    context.get(sessionContext).flash({ type: "success", title: said(resource, "cread") });
    return replace(`/admin/${params.resource}${url.search}`, 303);
  });
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function Create({ loaderData: { title, ...form }, actionData, params }: Route.ComponentProps) {
  const closeTo = `/admin/${params.resource}${useLocation().search}`;
  return <ResourceDialog title={title} closeTo={closeTo} {...form} result={actionData ?? undefined} />;
}
