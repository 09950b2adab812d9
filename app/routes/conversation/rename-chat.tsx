import { Link, redirect, useRouteLoaderData } from "react-router";
import { accepted } from "../../answers.server.ts";
import { apiContext, formContext } from "../../context.ts";
import { formProblem, textOf } from "../../form.server.ts";
import { limits } from "../../limits.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { PostForm } from "../../ui/post-form.tsx";
import type { Route } from "./+types/rename-chat";
import type { loader as chatLoader } from "./chat.tsx";

export const meta: Route.MetaFunction = () => [{ title: "Cambiar el título · Tertulia" }];

export async function action({ context, params }: Route.ActionArgs) {
  const form = context.get(formContext);
  try {
    const json = { title: textOf(form, "title") };
    await accepted(context.get(apiContext).api.chat[":id"].$patch({ param: { id: params.id }, json }));
  } catch (error) {
    return formProblem(error, form, ["title"]);
  }
  return redirect(`/conversation/chat/${params.id}`);
}

export default function RenameChat({ params, actionData }: Route.ComponentProps) {
  const chat = useRouteLoaderData<typeof chatLoader>("routes/conversation/chat");
  const closeTo = `/conversation/chat/${params.id}`;
  return (
    <Dialog title="Cambiar el título" closeTo={closeTo}>
      <PostForm className="contents">
        <div className="body">
          <Field
            name="title"
            label="Título"
            required
            maxLength={limits.chatTitle}
            defaultValue={actionData?.values.title ?? chat?.title}
            error={actionData?.errors.title ?? actionData?.message}
            autoFocus
          />
        </div>
        <div className="foot">
          <Link className="button quiet" to={closeTo}>
            Cancelar
          </Link>
          <button type="submit" className="button primary">
            Guardar
          </button>
        </div>
      </PostForm>
    </Dialog>
  );
}
