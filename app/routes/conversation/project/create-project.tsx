import { replace } from "react-router";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { titled } from "../../../ui/navigation/page-title.ts";
import { FormDialog } from "../../../ui/overlays/form-dialog.tsx";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import type { Route } from "./+types/create-project";
import { ProjectFields } from "./project-fields.tsx";
import { projectForm } from "./project-schema.server.ts";

export const meta = titled("Crear proyecto");
export const handle = { dialog: true };

export const action = ({ context }: Route.ActionArgs) =>
  sendFields(context, projectForm, async (json) => {
    const { id } = await read(context.get(apiContext).api.project.$post({ json }));
    return replace(`/conversation/project/${id}`, 303);
  });

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function CreateProject({ actionData }: Route.ComponentProps) {
  return (
    <FormDialog title="Crear proyecto" closeTo="/conversation/project" preventScrollReset>
      <ProjectFields result={actionData ?? undefined} />
    </FormDialog>
  );
}
