import { data, redirect } from "react-router";
import { ReceivedForm } from "../../../http/received-form.server.ts";
import { DashboardPage } from "../../../ui/dashboard-page.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { UploadField } from "../../../ui/forms/upload-form.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { read, refusalIn } from "../../../web/api-result.server.ts";
import { apiContext, filesContext, sessionContext } from "../../../web/context.ts";
import type { FormResult } from "../../../web/forms/form.server.ts";
import type { Route } from "./+types/import";
import { outcomeInWords } from "./outcome.ts";

export const meta = titled("Importar conversaciones");

// Empty loader: without one, client navigations would skip the layout's middleware.
export const loader = () => null;

export async function action({ context }: Route.ActionArgs) {
  try {
    const body = new ReceivedForm({}, context.get(filesContext));
    const answer = await read(context.get(apiContext).api.chat.import.$post(undefined, { init: { body } }));
    if ("id" in answer) return redirect(`/conversation/chat/importar/${answer.id}`, 303);
    const [title, description] = outcomeInWords(answer);
    context.get(sessionContext).flash({
      type: answer.messages > 0 ? "success" : "info",
      title,
      ...(description && { description }),
      // The message stays until it is closed: the list of missing things takes time to read.
      ...(answer.left.length > 0 && { duration: 0 }),
    });
    return redirect("/conversation/chat", 303);
  } catch (error) {
    const { detail, status } = refusalIn(error, [404]);
    return refuse(detail, status);
  }
}

const refuse = (sentence: string, status = 422) =>
  data<FormResult>({ values: {}, errors: { files: sentence } }, status);

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function Import({ actionData }: Route.ComponentProps) {
  return (
    <DashboardPage width="document" up={["/conversation/chat", "Conversaciones"]}>
      <h1>Importar conversaciones</h1>
      <p>
        Puedes importar la exportación de Tertulia (un JSON o el ZIP de tus datos), ChatGPT, Claude o DeepSeek
        (conversations.json o su ZIP), Open WebUI y LibreChat (un JSON). Lo que ya importaste no se duplica, y de una
        exportación posterior viene lo que hay de más. Los archivos y las imágenes vienen si la exportación los trae (el
        ZIP); al final se dice cuáles faltan.
      </p>
      <PostForm className="fields" encType="multipart/form-data">
        <UploadField
          result={actionData ?? undefined}
          label="Archivo de la exportación"
          hint="Un JSON o un ZIP de hasta 150 MB. Si son varios archivos, mételos en un ZIP."
        />
        <div>
          <button type="submit" className="button primary">
            Importar
          </button>
        </div>
      </PostForm>
    </DashboardPage>
  );
}
