import { replace, useRouteLoaderData } from "react-router";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { titled } from "../../../ui/navigation/page-title.ts";
import { FormDialog } from "../../../ui/overlays/form-dialog.tsx";
import { accepted } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import type { Route } from "./+types/edit-project";
import type { loader as projectLoader } from "./project.tsx";
import { ProjectFields } from "./project-fields.tsx";
import { projectForm } from "./project-schema.server.ts";

export const meta = titled("Editar proyecto");
export const handle = { dialog: true };

export const action = ({ context, params: { id } }: Route.ActionArgs) =>
  sendFields(context, projectForm, async (json) => {
    await accepted(context.get(apiContext).api.project[":id"].$put({ param: { id }, json }));
    return replace(`/conversation/project/${id}`, 303);
  });

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function EditProject({ actionData, params }: Route.ComponentProps) {
  const page = useRouteLoaderData<typeof projectLoader>("routes/conversation/project/project");
  const closeTo = `/conversation/project/${params.id}`;
  return (
    <FormDialog title="Editar proyecto" closeTo={closeTo} preventScrollReset>
      <ProjectFields {...(page && { project: page.project })} result={actionData ?? undefined} />
    </FormDialog>
  );
}
