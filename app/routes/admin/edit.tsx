import { replace, useLocation } from "react-router";
import { accepted, read } from "../../answers.server.ts";
import { sessionContext } from "../../context.ts";
import { Dialog, DialogFoot } from "../../ui/dialog.tsx";
import { PostForm } from "../../ui/post-form.tsx";
import { sendForm } from "../../ui/send-form.ts";
import type { Route } from "./+types/edit";
import { labelled, type ResourceResult, sendResource, valuesOf } from "./form-values.server.ts";
import { changeable, resourceOf } from "./resource.server.ts";
import { ResourceFields } from "./resource-form.tsx";

export const meta: Route.MetaFunction = ({ loaderData }) => [{ title: `${loaderData?.title ?? "Editar"} · Tertulia` }];
export const handle = { dialog: true };

const fieldsOf = (context: Route.LoaderArgs["context"], path: string) =>
  changeable(context, path).fields.filter(({ only }) => only !== "create");

export async function loader({ context, params: { resource: path, id } }: Route.LoaderArgs) {
  const { resource, api } = resourceOf(context, path);
  const fields = fieldsOf(context, path);
  const item = await read(api[":id"].$get({ param: { id } }));
  return {
    title: `Editar ${resource.one}`,
    version: item.updatedAt,
    fields: labelled(context, fields, item),
    values: await valuesOf(context, fields, item),
  };
}

export const action = ({ context, params: { resource: path, id }, url }: Route.ActionArgs) =>
  sendResource(context, fieldsOf(context, path), async (json, version) => {
    const options = { headers: { "If-Match": `"${version}"` } };
    await accepted(resourceOf(context, path).change({ param: { id }, json }, options));
    context.get(sessionContext).flash({ type: "success", title: "Guardado." });
    return replace(`/admin/${path}${url.search}`, 303);
  });

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function Edit({ loaderData: { title, version, ...form }, actionData, params }: Route.ComponentProps) {
  const result = actionData as ResourceResult | undefined;
  const closeTo = `/admin/${params.resource}${useLocation().search}`;
  return (
    <Dialog title={title} closeTo={closeTo}>
      <PostForm className="contents" preventScrollReset>
        <input type="hidden" name="version" value={result?.version ?? result?.values.version ?? version} />
        {/* The default of Enter, before the button of a preview. */}
        <button type="submit" className="sr-only" tabIndex={-1} aria-hidden="true">
          Guardar
        </button>
        <div className="body fields">
          <ResourceFields {...form} result={result} />
        </div>
        <DialogFoot cancelTo={closeTo}>
          <button type="submit" className="button primary">
            Guardar
          </button>
        </DialogFoot>
      </PostForm>
    </Dialog>
  );
}
