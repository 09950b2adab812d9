import { replace, useRouteLoaderData } from "react-router";
import { z } from "zod";
import { accepted, read } from "../../answers.server.ts";
import { apiContext, sessionContext } from "../../context.ts";
import { sendFields } from "../../form.server.ts";
import { limits } from "../../limits.ts";
import { currentPerson } from "../../person.server.ts";
import { Dialog, DialogFoot } from "../../ui/dialog.tsx";
import { Fields } from "../../ui/fields.tsx";
import { Icon } from "../../ui/icon.tsx";
import { PostForm } from "../../ui/post-form.tsx";
import { sendForm } from "../../ui/send-form.ts";
import type { Route } from "./+types/move-chat";
import type { loader as chatLoader } from "./chat.tsx";

export const meta: Route.MetaFunction = () => [{ title: "Mover a un proyecto · Tertulia" }];
export const handle = { dialog: true };

export async function loader({ context }: Route.LoaderArgs) {
  const { user } = await currentPerson(context);
  const query = { filter: JSON.stringify({ userId: user.id }), limit: String(limits.listMax) };
  const { items } = await read(context.get(apiContext).api.project.$get({ query }));
  return { projects: items.map(({ id, name }) => ({ id, name })) };
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

export default function MoveChat({ loaderData: { projects }, actionData, params }: Route.ComponentProps) {
  const chat = useRouteLoaderData<typeof chatLoader>("routes/conversation/chat");
  const closeTo = `/conversation/chat/${params.id}`;
  return (
    <Dialog title="Mover a un proyecto" closeTo={closeTo}>
      <PostForm className="contents" preventScrollReset>
        <div className="body fields">
          <Fields id="mover" result={actionData ?? undefined}>
            <div className="field">
              <label htmlFor="mover-projectId">Proyecto</label>
              <span className="select">
                <select className="input" id="mover-projectId" name="projectId" defaultValue={chat?.projectId ?? ""}>
                  <option value="">Ninguno</option>
                  {projects.map(({ id, name }) => (
                    <option key={id} value={id}>
                      {name}
                    </option>
                  ))}
                </select>
                <Icon name="chevron" />
              </span>
            </div>
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
