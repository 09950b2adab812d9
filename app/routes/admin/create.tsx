import { replace, useLocation } from "react-router";
import { read } from "../../answers.server.ts";
import { sessionContext } from "../../context.ts";
import { Dialog, DialogFoot } from "../../ui/dialog.tsx";
import { PostForm } from "../../ui/post-form.tsx";
import { sendForm } from "../../ui/send-form.ts";
import type { Route } from "./+types/create";
import { labelled, type ResourceResult, sendResource, valuesOf } from "./form-values.server.ts";
import { changeable, resourceOf } from "./resource.server.ts";
import { ResourceFields } from "./resource-form.tsx";

export const meta: Route.MetaFunction = ({ loaderData }) => [{ title: `${loaderData?.title ?? "Crear"} · Tertulia` }];
export const handle = { dialog: true };

const fieldsOf = (context: Route.LoaderArgs["context"], path: string) =>
  changeable(context, path).fields.filter(({ only }) => only !== "edit");

export async function loader({ context, params }: Route.LoaderArgs) {
  const { resource } = resourceOf(context, params.resource);
  const fields = fieldsOf(context, params.resource);
  return { title: `Crear ${resource.one}`, fields: labelled(context, fields), values: await valuesOf(context, fields) };
}

export const action = ({ context, params, url }: Route.ActionArgs) =>
  sendResource(context, fieldsOf(context, params.resource), async (json) => {
    await read(resourceOf(context, params.resource).api.$post({ json }));
    context.get(sessionContext).flash({ type: "success", title: "Creado." });
    return replace(`/admin/${params.resource}${url.search}`, 303);
  });

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function Create({ loaderData: { title, ...form }, actionData, params }: Route.ComponentProps) {
  const closeTo = `/admin/${params.resource}${useLocation().search}`;
  return (
    <Dialog title={title} closeTo={closeTo}>
      <PostForm className="contents" preventScrollReset>
        {/* The default of Enter, before the button of a preview. */}
        <button type="submit" className="sr-only" tabIndex={-1} aria-hidden="true">
          Guardar
        </button>
        <div className="body fields">
          <ResourceFields {...form} result={actionData as ResourceResult | undefined} />
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
