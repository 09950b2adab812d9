import { type RefObject, useEffect, useRef } from "react";
import { Link, useSearchParams } from "react-router";
import { limits } from "../../../process/limits.ts";
import { DashboardPage } from "../../../ui/dashboard-page.tsx";
import { TextField } from "../../../ui/forms/field.tsx";
import { Fields } from "../../../ui/forms/fields.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { titled } from "../../../ui/navigation/page-title.ts";
import type { Route } from "./+types/share";
import { sharedText, takeShared } from "./take-shared.server.ts";

export const meta = titled("Compartir");

// Files that the service worker has received come into the form by a script, also where pages are light.
export const handle = { scripts: "needed" };

export const loader = ({ url: { searchParams } }: Route.LoaderArgs) => ({
  text: sharedText(["title", "text", "url"].map((name) => searchParams.get(name) ?? "")),
});

export const action = ({ context }: Route.ActionArgs) => takeShared(context);

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

/** Fills the form with what the service worker has received from another program (`public/sw.js`), files included. */
function useReceived(form: RefObject<HTMLFormElement | null>, files: RefObject<HTMLInputElement | null>) {
  const [search] = useSearchParams();
  const received = search.has("recibido");
  useEffect(() => {
    if (!received) return;
    void fetch("/sin-conexion/compartido").then(async (answer) => {
      const shared = answer.ok ? await answer.formData() : new FormData();
      const text = form.current?.elements.namedItem("text");
      const said = ["title", "text", "url"].map((name) => shared.get(name)).filter((part) => typeof part === "string");
      if (text instanceof HTMLTextAreaElement && said.length > 0)
        text.value = [...new Set(said)].filter(Boolean).join("\n\n");
      const chosen = new DataTransfer();
      for (const file of shared.getAll("files")) if (file instanceof File) chosen.items.add(file);
      if (files.current) files.current.files = chosen.files;
    });
  }, [received, form, files]);
}

/** Shared text and files of another program, before they become the beginning of a conversation. */
export default function Share({ loaderData: { text }, actionData }: Route.ComponentProps) {
  const refused = actionData?.errors.files;
  const form = useRef<HTMLFormElement>(null);
  const files = useRef<HTMLInputElement>(null);
  useReceived(form, files);
  return (
    <DashboardPage width="column">
      <h1>Compartir</h1>
      <p className="mt-2 text-text-2">Lo que compartes espera en una conversación nueva; no se envía todavía.</p>
      {refused && (
        <p className="error mt-4" role="alert">
          {refused} Lo demás ya <Link to="/conversation/chat">espera en una conversación nueva</Link>.
        </p>
      )}
      <PostForm encType="multipart/form-data" className="fields mt-6" ref={form}>
        <Fields id="compartir" result={refused ? undefined : (actionData ?? undefined)}>
          <TextField name="text" label="Texto" rows={8} maxLength={limits.draft} defaultValue={refused ? "" : text} />
          <div className="field">
            <label htmlFor="compartir-files">Archivos</label>
            <input className="input" id="compartir-files" type="file" name="files" multiple ref={files} />
          </div>
        </Fields>
        <div className="buttons">
          <button type="submit" className="button primary">
            Llevar a una conversación
          </button>
        </div>
      </PostForm>
    </DashboardPage>
  );
}
