import { replace } from "react-router";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { titled } from "../../../ui/navigation/page-title.ts";
import { FormDialog } from "../../../ui/overlays/form-dialog.tsx";
import { accepted } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import type { Route } from "./+types/create-template";
import { TemplateFields } from "./template-fields.tsx";
import { templateForm } from "./template-schema.server.ts";

export const meta = titled("Crear plantilla");
export const handle = { dialog: true };

export async function loader({ context }: Route.LoaderArgs) {
  return { mayShare: (await requireUser(context)).user.role === "admin" };
}

export const action = ({ context }: Route.ActionArgs) =>
  sendFields(context, templateForm, async (json) => {
    await accepted(context.get(apiContext).api.template.$post({ json }));
    return replace("/conversation/template", 303);
  });

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function CreateTemplate({ loaderData, actionData }: Route.ComponentProps) {
  return (
    <FormDialog title="Crear plantilla" closeTo="/conversation/template" preventScrollReset>
      <TemplateFields {...loaderData} result={actionData ?? undefined} />
    </FormDialog>
  );
}
