import { data, replace } from "react-router";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { titled } from "../../../ui/navigation/page-title.ts";
import { FormDialog } from "../../../ui/overlays/form-dialog.tsx";
import { accepted, read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import type { Route } from "./+types/edit-assistant";
import { AssistantFields } from "./assistant-fields.tsx";
import { assistantIn, choicesFor, refusalOf } from "./assistant-form.server.ts";

export const meta = titled("Editar asistente");
export const handle = { dialog: true };

export async function loader({ context, params: { id } }: Route.LoaderArgs) {
  const assistant = await read(context.get(apiContext).api.assistant[":id"].$get({ param: { id } }));
  if (!assistant.mayChange) throw data(null, 404);
  return { assistant, choices: await choicesFor(context, assistant.groupIds) };
}

export async function action({ context, params: { id } }: Route.ActionArgs) {
  const json = await assistantIn(context);
  try {
    await accepted(context.get(apiContext).api.assistant[":id"].$put({ param: { id }, json }));
    return replace("/conversation/assistant", 303);
  } catch (error) {
    const { result, status } = refusalOf(context, error);
    return data(result, status);
  }
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function EditAssistant({ loaderData, actionData }: Route.ComponentProps) {
  return (
    <FormDialog title="Editar asistente" closeTo="/conversation/assistant" preventScrollReset>
      <AssistantFields {...loaderData} result={actionData ?? undefined} />
    </FormDialog>
  );
}
