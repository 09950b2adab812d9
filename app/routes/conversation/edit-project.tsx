import { replace, useRouteLoaderData } from "react-router";
import { accepted } from "../../answers.server.ts";
import { apiContext } from "../../context.ts";
import { sendFields } from "../../form.server.ts";
import { Dialog, DialogFoot } from "../../ui/dialog.tsx";
import { PostForm } from "../../ui/post-form.tsx";
import { sendForm } from "../../ui/send-form.ts";
import type { Route } from "./+types/edit-project";
import type { loader as projectLoader } from "./project.tsx";
import { ProjectFields } from "./project-fields.tsx";
import { projectForm } from "./project-schema.server.ts";

export const meta: Route.MetaFunction = () => [{ title: "Editar proyecto · Tertulia" }];
export const handle = { dialog: true };

export const action = ({ context, params: { id } }: Route.ActionArgs) =>
  sendFields(context, projectForm, async (json) => {
    await accepted(context.get(apiContext).api.project[":id"].$put({ param: { id }, json }));
    return replace(`/conversation/project/${id}`, 303);
  });

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function EditProject({ actionData, params }: Route.ComponentProps) {
  const page = useRouteLoaderData<typeof projectLoader>("routes/conversation/project");
  const closeTo = `/conversation/project/${params.id}`;
  return (
    <Dialog title="Editar proyecto" closeTo={closeTo}>
      <PostForm className="contents" preventScrollReset>
        <div className="body fields">
          <ProjectFields {...(page && { project: page.project })} result={actionData ?? undefined} />
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
