import { redirect } from "react-router";
import { ReceivedForm } from "../../../http/received-form.server.ts";
import { limits } from "../../../process/limits.ts";
import { cutText } from "../../../process/text/cut-text.ts";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { UploadField } from "../../../ui/forms/upload-form.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { read, refusalIn } from "../../../web/api-result.server.ts";
import { apiContext, filesContext, sessionContext } from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";
import type { FormResult } from "../../../web/forms/form.server.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import { OwnLeaf } from "../own-list.tsx";
import type { Route } from "./+types/skills";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta = titled("Oficios");

// In characters: the longest line of the list.
const lineLength = 200;

// Left-out files that the message names: the message is kept in a cookie.
const toldAtMost = 5;

const someOf = (left: string[]) =>
  [...left.slice(0, toldAtMost), ...(left.length > toldAtMost ? [`Y ${left.length - toldAtMost} más.`] : [])].join(" ");

export async function loader({ context }: Route.LoaderArgs) {
  const { skill } = context.get(apiContext).api;
  const { user } = await requireUser(context);
  const list = (filter: object) =>
    read(skill.$get({ query: { limit: String(limits.listMax), filter: JSON.stringify(filter) } }));
  const [own, shared] = await Promise.all([list({ userId: user.id }), list({ shared: true })]);
  const others = shared.items.filter(({ userId }) => userId !== user.id);
  return {
    skills: [...own.items, ...others].map(({ id, name, description, shared }) => ({
      ...{ id, name },
      line: `${shared ? "De todos. " : ""}${cutText(description, lineLength)}`,
    })),
  };
}

export async function action({ context }: Route.ActionArgs): Promise<FormResult> {
  const body = new ReceivedForm({}, context.get(filesContext).slice(0, 1));
  let id: string;
  try {
    const { skill, left } = await read(context.get(apiContext).api.skill.upload.$post(undefined, { init: { body } }));
    id = skill.id;
    const session = context.get(sessionContext);
    const title = skill.version === 1 ? "Oficio subido." : `Oficio subido: es la versión ${skill.version}.`;
    if (left.length === 0) session.flash({ type: "success", title });
    else session.flash({ type: "warning", title, description: `Se ha dejado fuera: ${someOf(left)}`, duration: 0 });
  } catch (error) {
    const { errors = {}, detail } = refusalIn(error, [404]);
    return { values: {}, errors, ...(Object.keys(errors).length === 0 && { message: detail }) };
  }
  throw redirect(`/conversation/oficio/${id}`, 303);
}

/** Skills that a person may use, and the form that takes one in. */
export default function Skills({ loaderData: { skills }, actionData }: Route.ComponentProps) {
  return (
    <OwnLeaf
      back={["/conversation/assistant", "Volver a los asistentes"]}
      title="Oficios"
      about="Un oficio dice cómo se hace un trabajo: un bando, un acta, una corrección. Un modelo que usa herramientas sabe cómo se llaman los tuyos y para qué sirven, y abre el que necesita."
      at="/conversation/oficio"
      rows={skills}
    >
      <p className="buttons mt-6">
        <a className="button primary" href="/conversation/oficio/crear">
          Escribir un oficio
        </a>
      </p>
      <h2 className="mt-8">Subir un oficio</h2>
      <PostForm className="fields mt-4" encType="multipart/form-data">
        <UploadField
          id="oficio"
          result={actionData ?? undefined}
          label="Archivo"
          hint="Un ZIP de hasta 4 MB con un SKILL.md y los textos que lo acompañan, o solo el SKILL.md. Si ya tienes uno con su nombre, es otra versión. Lee antes lo que subes: el modelo hará lo que diga."
          accept=".zip,.md,text/markdown,application/zip"
        />
        <div className="buttons">
          <button type="submit" className="button">
            Subir
          </button>
        </div>
      </PostForm>
    </OwnLeaf>
  );
}
