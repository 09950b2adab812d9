import { replace } from "react-router";
import { cutText } from "../../../process/text/cut-text.ts";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { AlertDialog } from "../../../ui/overlays/alert-dialog.tsx";
import { accepted, read } from "../../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../../web/context.ts";
import type { Route } from "./+types/delete-schedule";

export const meta: Route.MetaFunction = () => [{ title: "Eliminar pregunta programada · Tertulia" }];
export const handle = { dialog: true };

const shown = 120;

export async function loader({ context, params: { id } }: Route.LoaderArgs) {
  const { content } = await read(context.get(apiContext).api.schedule[":id"].$get({ param: { id } }));
  return { question: content.length > shown ? `${cutText(content, shown)}…` : content };
}

export async function action({ context, params: { id } }: Route.ActionArgs) {
  await accepted(context.get(apiContext).api.schedule[":id"].$delete({ param: { id } }));
  context.get(sessionContext).flash({ type: "success", title: "La pregunta ya no se hace." });
  return replace("/conversation/schedule", 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function DeleteSchedule({ loaderData: { question } }: Route.ComponentProps) {
  return (
    <AlertDialog title="Eliminar pregunta programada" closeTo="/conversation/schedule">
      <p>«{question}» no se hará más. Las conversaciones que ya hay se quedan.</p>
    </AlertDialog>
  );
}
