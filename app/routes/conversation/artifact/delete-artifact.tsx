import { data, redirect } from "react-router";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { accepted, read, refusalIn } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import type { Route } from "./+types/delete-artifact";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta = titled("Eliminar escrito");

export async function loader({ context, params: { id } }: Route.LoaderArgs) {
  const { title, version, mayChange } = await read(
    context.get(apiContext).api.artifact[":id"].$get({ param: { id }, query: {} }),
  );
  if (!mayChange) throw data(null, 404);
  return { title, version };
}

export async function action({ context, params: { id } }: Route.ActionArgs) {
  try {
    await accepted(context.get(apiContext).api.artifact[":id"].$delete({ param: { id } }));
  } catch (error) {
    return { message: refusalIn(error).detail };
  }
  return redirect("/conversation/escrito", 303);
}

/** Asks before an artifact is deleted. */
export default function DeleteArtifact({ loaderData: { title, version }, actionData, params }: Route.ComponentProps) {
  return (
    <main className="leaf" id="contenido">
      <h1 className="mt-6 break-words">¿Eliminar «{title}»?</h1>
      <p className="mt-3">
        {version > 1 ? `Se eliminan sus ${version} versiones` : "Se elimina su texto"}, y no se pueden recuperar. La
        conversación en la que se escribió sigue donde está.
      </p>
      {actionData && (
        <p className="error mt-4" role="alert">
          {actionData.message}
        </p>
      )}
      <PostForm className="buttons mt-5">
        <button type="submit" className="button danger">
          Eliminar
        </button>{" "}
        <a className="button" href={`/conversation/escrito/${params.id}`}>
          Cancelar
        </a>
      </PostForm>
    </main>
  );
}
