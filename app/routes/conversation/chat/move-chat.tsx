import { replace } from "react-router";
import { z } from "zod";
import { SelectField } from "../../../ui/forms/field.tsx";
import { Fields } from "../../../ui/forms/fields.tsx";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { titled } from "../../../ui/navigation/page-title.ts";
import { FormDialog } from "../../../ui/overlays/form-dialog.tsx";
import { accepted, read } from "../../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../../web/context.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import { ownProjects } from "../project/own-projects.server.ts";
import type { Route } from "./+types/move-chat";

export const meta = titled("Mover a un proyecto");
export const handle = { dialog: true };

export async function loader({ context, params }: Route.LoaderArgs) {
  const client = context.get(apiContext);
  const { api } = client;
  const chat = await read(api.chat[":id"].$get({ param: { id: params.id } }));
  const projects = await ownProjects(client, chat.userId);
  // The list has an end. The current project must be in it, or saving the form unchanged would remove the chat from it.
  if (chat.projectId && !projects.some(({ id }) => id === chat.projectId)) {
    const { id, name } = await read(api.project[":id"].$get({ param: { id: chat.projectId } }));
    projects.unshift({ id, name });
  }
  return { projects, projectId: chat.projectId };
}

const fields = z.object({ projectId: z.string().optional() });

export const action = ({ context, params: { id } }: Route.ActionArgs) =>
  sendFields(context, fields, async ({ projectId = null }) => {
    await accepted(context.get(apiContext).api.chat[":id"].$patch({ param: { id }, json: { projectId } }));
    const title = projectId ? "La conversación está en el proyecto." : "La conversación no está en ningún proyecto.";
    context.get(sessionContext).flash({ type: "success", title });
    return replace(`/conversation/chat/${id}`, 303);
  });

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function MoveChat({ loaderData: { projects, projectId }, actionData, params }: Route.ComponentProps) {
  const closeTo = `/conversation/chat/${params.id}`;
  return (
    <FormDialog title="Mover a un proyecto" closeTo={closeTo} preventScrollReset>
      <Fields id="mover" result={actionData ?? undefined}>
        <SelectField
          name="projectId"
          label="Proyecto"
          choices={projects}
          none="Ninguno"
          defaultValue={projectId ?? undefined}
        />
      </Fields>
    </FormDialog>
  );
}
