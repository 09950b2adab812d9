import { replace, useRouteLoaderData } from "react-router";
import { z } from "zod";
import { limits } from "../../../process/limits.ts";
import { Field } from "../../../ui/forms/field.tsx";
import { Fields } from "../../../ui/forms/fields.tsx";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { titled } from "../../../ui/navigation/page-title.ts";
import { FormDialog } from "../../../ui/overlays/form-dialog.tsx";
import { accepted } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import type { Route } from "./+types/rename-chat";
import type { loader as chatLoader } from "./chat.tsx";

export const meta = titled("Cambiar el título");

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);
export const handle = { dialog: true };

const fields = z.object({ title: z.string().default("") });

export const action = ({ context, params }: Route.ActionArgs) =>
  sendFields(context, fields, async (json) => {
    await accepted(context.get(apiContext).api.chat[":id"].$patch({ param: { id: params.id }, json }));
    return replace(`/conversation/chat/${params.id}`);
  });

export default function RenameChat({ params, actionData }: Route.ComponentProps) {
  const chat = useRouteLoaderData<typeof chatLoader>("routes/conversation/chat/chat");
  const closeTo = `/conversation/chat/${params.id}`;
  return (
    <FormDialog title="Cambiar el título" closeTo={closeTo}>
      <Fields id="titulo" result={actionData ?? undefined}>
        <Field name="title" label="Título" required maxLength={limits.chatTitle} defaultValue={chat?.title} autoFocus />
      </Fields>
    </FormDialog>
  );
}
