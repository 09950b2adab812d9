import { redirect } from "react-router";
import { Fields } from "../../../ui/forms/fields.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { Leaf } from "../../../ui/leaf.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import type { Route } from "./+types/create-artifact";
import { ArtifactFields } from "./artifact-fields.tsx";
import { artifactForm, projectsFor } from "./artifact-form.server.ts";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta = titled("Crear escrito");

export async function loader({ context }: Route.LoaderArgs) {
  const { user } = await requireUser(context);
  return { projects: await projectsFor(context.get(apiContext), user.id, null) };
}

export const action = ({ context }: Route.ActionArgs) =>
  sendFields(context, artifactForm, async ({ projectId, ...given }) => {
    const json = { ...given, projectId: projectId || null };
    const { id } = await read(context.get(apiContext).api.artifact.$post({ json }));
    return redirect(`/conversation/escrito/${id}`, 303);
  });

export default function CreateArtifact({ loaderData: { projects }, actionData }: Route.ComponentProps) {
  return (
    <Leaf back={["/conversation/escrito", "Volver a los escritos"]} title="Crear escrito">
      <PostForm className="fields mt-5" encType="multipart/form-data">
        <Fields id="escrito" result={actionData ?? undefined}>
          <ArtifactFields projects={projects} />
        </Fields>
        <div className="buttons">
          <button type="submit" className="button primary">
            Guardar
          </button>{" "}
          <a className="button" href="/conversation/escrito">
            Cancelar
          </a>
        </div>
      </PostForm>
    </Leaf>
  );
}
