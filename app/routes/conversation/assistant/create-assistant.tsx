import { data, replace } from "react-router";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { titled } from "../../../ui/navigation/page-title.ts";
import { FormDialog } from "../../../ui/overlays/form-dialog.tsx";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import type { Route } from "./+types/create-assistant";
import { AssistantFields } from "./assistant-fields.tsx";
import { assistantIn, choicesFor, refusalOf } from "./assistant-form.server.ts";

export const meta = titled("Crear asistente");
export const handle = { dialog: true };

export const loader = ({ context }: Route.LoaderArgs) => choicesFor(context);

export async function action({ context }: Route.ActionArgs) {
  const json = await assistantIn(context);
  try {
    const { id } = await read(context.get(apiContext).api.assistant.$post({ json }));
    return replace(`/conversation/chat?asistente=${id}`, 303);
  } catch (error) {
    const { result, status } = refusalOf(context, error);
    return data(result, status);
  }
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function CreateAssistant({ loaderData, actionData }: Route.ComponentProps) {
  return (
    <FormDialog title="Crear asistente" closeTo="/conversation/assistant" preventScrollReset>
      <AssistantFields choices={loaderData} result={actionData ?? undefined} />
    </FormDialog>
  );
}
