import { data, redirect } from "react-router";
import { z } from "zod";
import { limits } from "../../../process/limits.ts";
import { Field } from "../../../ui/forms/field.tsx";
import { Fields } from "../../../ui/forms/fields.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { Leaf } from "../../../ui/leaf.tsx";
import { named } from "../../../ui/navigation/page-title.ts";
import { ApiProblem, accepted, read } from "../../../web/api-result.server.ts";
import { apiContext, formContext } from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";
import { sendFields, textOf } from "../../../web/forms/form.server.ts";
import { typedFields } from "../../../web/forms/unsent-form.server.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import type { Route } from "./+types/edit-artifact";
import { ArtifactFields } from "./artifact-fields.tsx";
import { artifactForm, projectsFor } from "./artifact-form.server.ts";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta: Route.MetaFunction = ({ loaderData, matches }) =>
  named(matches, `Editar «${loaderData?.artifact.title ?? "escrito"}»`);

export async function loader({ context, params: { id }, url }: Route.LoaderArgs) {
  const { user } = await requireUser(context);
  const again = /^\d{1,9}$/.exec(url.searchParams.get("version") ?? "")?.[0];
  const api = context.get(apiContext);
  const artifact = await read(api.api.artifact[":id"].$get({ param: { id }, query: {} }));
  if (!artifact.mayChange || artifact.version === 0) throw data(null, 404);
  // The text of an older version becomes the text of the next version.
  const old = again
    ? await read(api.api.artifact[":id"].$get({ param: { id }, query: { version: again } }))
    : undefined;
  return {
    artifact: old ? { ...artifact, text: old.text } : artifact,
    reason: old ? `Como en la versión ${again}` : "",
    projects: await projectsFor(api, user.id, artifact.projectId),
  };
}

const editForm = artifactForm.extend({ reason: artifactForm.shape.title });

export const action = ({ context, params: { id } }: Route.ActionArgs) => {
  const form = context.get(formContext);
  return sendFields(context, editForm, async ({ projectId, ...given }) => {
    const json = { ...given, projectId: projectId || null };
    const options = { headers: { "If-Match": `"${textOf(form, "version")}"` } };
    try {
      await accepted(context.get(apiContext).api.artifact[":id"].$patch({ param: { id }, json }, options));
    } catch (error) {
      const current = error instanceof ApiProblem ? stored.safeParse(error.body.current) : undefined;
      if (!current?.success) throw error;
      const { text: theirs, updatedAt } = current.data;
      const message = "Ha cambiado mientras lo editabas. Más abajo está lo que hay guardado.";
      return data({ values: { ...typedFields(form), version: updatedAt }, errors: {}, message, theirs }, 409);
    }
    return redirect(`/conversation/escrito/${id}`, 303);
  });
};

/** The artifact as it is now, which comes with the refusal of a change. */
const stored = z.object({ text: z.string(), updatedAt: z.string() });

export default function EditArtifact({ loaderData, actionData, params: { id } }: Route.ComponentProps) {
  const { artifact, reason, projects } = loaderData;
  const result = actionData ?? undefined;
  const theirs = result && "theirs" in result ? String(result.theirs) : undefined;
  return (
    <Leaf back={[`/conversation/escrito/${id}`, "Volver sin guardar"]} title={`Editar «${artifact.title}»`}>
      <PostForm className="fields mt-5" encType="multipart/form-data">
        <input type="hidden" name="version" value={result?.values.version ?? artifact.updatedAt} />
        <Fields id="escrito" result={result}>
          <ArtifactFields artifact={artifact} projects={projects} />
          <Field
            name="reason"
            label="Qué has cambiado"
            hint="Se lee en sus versiones. Puede quedar vacío."
            maxLength={limits.artifactReason}
            defaultValue={reason}
          />
        </Fields>
        {theirs !== undefined && (
          <div className="given">
            <h2>Lo que hay guardado ahora</h2>
            <pre dir="auto">{theirs}</pre>
            <p>
              Al guardar se queda lo que has escrito tú, y lo guardado sigue en las versiones.{" "}
              <a href={`/conversation/escrito/${id}`}>Quedarse con lo guardado</a>
            </p>
          </div>
        )}
        <div className="buttons">
          <button type="submit" className="button primary">
            Guardar
          </button>{" "}
          <a className="button" href={`/conversation/escrito/${id}`}>
            Cancelar
          </a>
        </div>
      </PostForm>
    </Leaf>
  );
}
