import { data, replace } from "react-router";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { titled } from "../../../ui/navigation/page-title.ts";
import { FormDialog } from "../../../ui/overlays/form-dialog.tsx";
import { accepted, read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import type { Route } from "./+types/edit-template";
import { TemplateFields } from "./template-fields.tsx";
import { templateForm } from "./template-schema.server.ts";

export const meta = titled("Editar plantilla");
export const handle = { dialog: true };

export async function loader({ context, params: { id } }: Route.LoaderArgs) {
  const template = await read(context.get(apiContext).api.template[":id"].$get({ param: { id } }));
  if (!template.mayChange) throw data(null, 404);
  return { template, mayShare: (await requireUser(context)).user.role === "admin" };
}

export const action = ({ context, params: { id } }: Route.ActionArgs) =>
  sendFields(context, templateForm, async (json) => {
    await accepted(context.get(apiContext).api.template[":id"].$put({ param: { id }, json }));
    return replace("/conversation/template", 303);
  });

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function EditTemplate({ loaderData, actionData }: Route.ComponentProps) {
  return (
    <FormDialog title="Editar plantilla" closeTo="/conversation/template" preventScrollReset>
      <TemplateFields {...loaderData} result={actionData ?? undefined} />
    </FormDialog>
  );
}
