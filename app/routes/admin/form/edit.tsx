import { replace, useLocation } from "react-router";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { named } from "../../../ui/navigation/page-title.ts";
import { accepted, read } from "../../../web/api-result.server.ts";
import { sessionContext } from "../../../web/context.ts";
import type { AnyAdminResource } from "../descriptions/description.ts";
import { suggestionsFor } from "../resources/references.server.ts";
import { changeable, said } from "../resources/resource.server.ts";
import type { Route } from "./+types/edit";
import { labelled, type ResourceResult, sendResource, valuesOf } from "./form-values.server.ts";
import { ResourceDialog } from "./resource-dialog.tsx";

export const meta: Route.MetaFunction = ({ loaderData, matches }) => named(matches, loaderData?.title ?? "Editar");
export const handle = { dialog: true };

const fieldsOf = ({ fields }: AnyAdminResource) => fields.filter(({ only }) => only !== "create");

export async function loader({ context, params: { resource: path, id } }: Route.LoaderArgs) {
  const { resource, read: readItem } = changeable(context, path);
  const fields = fieldsOf(resource);
  const item = await read(readItem({ param: { id } }));
  return {
    title: `Editar ${resource.one}`,
    version: String(item.updatedAt),
    fields: await labelled(context, resource, fields, item),
    presets: (resource.presets ?? []).map(({ name, label }) => ({ name, label })),
    suggestions: await suggestionsFor(context, fields),
    values: await valuesOf(context, fields, item),
  };
}

export function action({ context, params: { resource: path, id }, url }: Route.ActionArgs) {
  const { resource, change } = changeable(context, path);
  return sendResource(context, resource, fieldsOf(resource), async (json, version) => {
    const options = { headers: { "If-Match": `"${version}"` } };
    await accepted(change({ param: { id }, json }, options));
    context.get(sessionContext).flash({ type: "success", title: said(resource, "guardad") });
    return replace(`/admin/${path}${url.search}`, 303);
  });
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function Edit({ loaderData: { title, version, ...form }, actionData, params }: Route.ComponentProps) {
  const result: ResourceResult | undefined = actionData ?? undefined;
  const closeTo = `/admin/${params.resource}${useLocation().search}`;
  const loaded = result?.version ?? result?.values.version ?? version;
  return <ResourceDialog title={title} closeTo={closeTo} version={loaded} {...form} result={result} />;
}
