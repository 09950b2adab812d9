import { openAsBlob } from "node:fs";
import { data, Link, redirect } from "react-router";
import { ApiProblem, read } from "../../answers.server.ts";
import { apiContext, filesContext, sessionContext } from "../../context.ts";
import type { FormResult } from "../../form.server.ts";
import { Bar } from "../../ui/bar.tsx";
import { PostForm } from "../../ui/post-form.tsx";
import { sendForm } from "../../ui/send-form.ts";
import { UploadField } from "../../ui/upload-form.tsx";
import type { Route } from "./+types/import";

export const meta: Route.MetaFunction = () => [{ title: "Importar conversaciones · Tertulia" }];

// A page without a loader makes no request, and its layout's rules would not be asked.
export const loader = () => null;

export async function action({ context }: Route.ActionArgs) {
  const [sent] = context.get(filesContext);
  if (!sent) return refuse("Elige el archivo de la exportación.");
  try {
    const file = new File([await openAsBlob(sent.path)], sent.name);
    const { chats, messages, known } = await read(
      context.get(apiContext).api.chat.import.$post({ form: { file } } as never),
    );
    const title = `${chats === 1 ? "Una conversación importada" : `${chats} conversaciones importadas`}, con ${messages} mensajes.`;
    const description = known > 0 ? `${known === 1 ? "Otra ya estaba" : `Otras ${known} ya estaban`}.` : "";
    context
      .get(sessionContext)
      .flash({ type: chats > 0 ? "success" : "info", title, ...(description && { description }) });
    return redirect("/conversation/chat", 303);
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.status === 404) throw error;
    return refuse(error.body.detail, error.status);
  }
}

const refuse = (sentence: string, status = 422) =>
  data<FormResult>({ values: {}, errors: { files: sentence } }, status);

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function Import({ actionData }: Route.ComponentProps) {
  return (
    <>
      <Bar>
        <p className="where">
          <Link to="/conversation/chat">Conversaciones</Link>
        </p>
      </Bar>
      <main className="page" id="contenido">
        <div className="in document">
          <h1>Importar conversaciones</h1>
          <p>
            Vale la exportación de Tertulia (un JSON o el ZIP de tus datos), la de ChatGPT (conversations.json o su ZIP)
            y la de LibreChat (un JSON). Lo que ya importaste no se duplica. Los archivos adjuntos y las imágenes no
            vienen.
          </p>
          <PostForm className="fields" encType="multipart/form-data">
            <UploadField
              result={actionData ?? undefined}
              label="Archivo de la exportación"
              hint="Un JSON o un ZIP de hasta 150 MB."
              multiple={false}
            />
            <div>
              <button type="submit" className="button primary">
                Importar
              </button>
            </div>
          </PostForm>
        </div>
      </main>
    </>
  );
}
