import { replace } from "react-router";
import { read } from "../../answers.server.ts";
import { apiContext } from "../../context.ts";
import { sendFields } from "../../form.server.ts";
import { Dialog, DialogFoot } from "../../ui/dialog.tsx";
import { PostForm } from "../../ui/post-form.tsx";
import { sendForm } from "../../ui/send-form.ts";
import type { Route } from "./+types/create-project";
import { ProjectFields } from "./project-fields.tsx";
import { projectForm } from "./project-schema.server.ts";

export const meta: Route.MetaFunction = () => [{ title: "Crear proyecto · Tertulia" }];
export const handle = { dialog: true };

export const action = ({ context }: Route.ActionArgs) =>
  sendFields(context, projectForm, async (json) => {
    const { id } = await read(context.get(apiContext).api.project.$post({ json }));
    return replace(`/conversation/project/${id}`, 303);
  });

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function CreateProject({ actionData }: Route.ComponentProps) {
  return (
    <Dialog title="Crear proyecto" closeTo="/conversation/project">
      <PostForm className="contents" preventScrollReset>
        <div className="body fields">
          <ProjectFields result={actionData ?? undefined} />
        </div>
        <DialogFoot cancelTo="/conversation/project">
          <button type="submit" className="button primary">
            Guardar
          </button>
        </DialogFoot>
      </PostForm>
    </Dialog>
  );
}
