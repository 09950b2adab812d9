import { replace, useRouteLoaderData } from "react-router";
import { z } from "zod";
import { accepted } from "../../answers.server.ts";
import { apiContext } from "../../context.ts";
import { sendFields } from "../../form.server.ts";
import { limits } from "../../limits.ts";
import { Dialog, DialogFoot } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Fields } from "../../ui/fields.tsx";
import { PostForm } from "../../ui/post-form.tsx";
import { sendForm } from "../../ui/send-form.ts";
import type { Route } from "./+types/rename-chat";
import type { loader as chatLoader } from "./chat.tsx";

export const meta: Route.MetaFunction = () => [{ title: "Cambiar el título · Tertulia" }];

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);
export const handle = { dialog: true };

const fields = z.object({ title: z.string().default("") });

export const action = ({ context, params }: Route.ActionArgs) =>
  sendFields(context, fields, async (json) => {
    await accepted(context.get(apiContext).api.chat[":id"].$patch({ param: { id: params.id }, json }));
    return replace(`/conversation/chat/${params.id}`);
  });

export default function RenameChat({ params, actionData }: Route.ComponentProps) {
  const chat = useRouteLoaderData<typeof chatLoader>("routes/conversation/chat");
  const closeTo = `/conversation/chat/${params.id}`;
  return (
    <Dialog title="Cambiar el título" closeTo={closeTo}>
      <PostForm className="contents">
        <div className="body fields">
          <Fields id="titulo" result={actionData ?? undefined}>
            <Field
              name="title"
              label="Título"
              required
              maxLength={limits.chatTitle}
              defaultValue={chat?.title}
              autoFocus
            />
          </Fields>
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
