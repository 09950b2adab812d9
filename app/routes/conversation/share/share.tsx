import { Link } from "react-router";
import { limits } from "../../../process/limits.ts";
import { DashboardPage } from "../../../ui/dashboard-page.tsx";
import { TextField } from "../../../ui/forms/field.tsx";
import { Fields } from "../../../ui/forms/fields.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { sendForm } from "../../../ui/forms/send-form.ts";
import type { Route } from "./+types/share";
import { sharedText, takeShared } from "./take-shared.server.ts";

export const meta: Route.MetaFunction = () => [{ title: "Compartir con Tertulia · Tertulia" }];

export const loader = ({ url: { searchParams } }: Route.LoaderArgs) => ({
  text: sharedText(["title", "text", "url"].map((name) => searchParams.get(name) ?? "")),
});

export const action = ({ context }: Route.ActionArgs) => takeShared(context);

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

/** What another program shares, before it becomes the beginning of a conversation. */
export default function Share({ loaderData: { text }, actionData }: Route.ComponentProps) {
  const refused = actionData?.errors.files;
  return (
    <DashboardPage width="column">
      <h1>Compartir con Tertulia</h1>
      <p className="mt-2 text-text-2">Lo que compartes espera en una conversación nueva; no se envía todavía.</p>
      {refused && (
        <p className="error mt-4" role="alert">
          {refused} Lo demás ya <Link to="/conversation/chat">espera en una conversación nueva</Link>.
        </p>
      )}
      <PostForm encType="multipart/form-data" className="mt-6">
        <Fields id="compartir" result={refused ? undefined : (actionData ?? undefined)}>
          <TextField name="text" label="Texto" rows={8} maxLength={limits.draft} defaultValue={refused ? "" : text} />
          <div className="field">
            <label htmlFor="compartir-files">Archivos</label>
            <input id="compartir-files" type="file" name="files" multiple />
          </div>
        </Fields>
        <div className="buttons mt-6">
          <button type="submit" className="button primary">
            Llevar a una conversación
          </button>
        </div>
      </PostForm>
    </DashboardPage>
  );
}
