import { v7 as newId } from "uuid";
import { titled } from "../../../ui/navigation/page-title.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext, lightContext, liveContext } from "../../../web/context.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import type { Route } from "./+types/sheet";
import { showText } from "./artifact-text.server.ts";
import { ArtifactText } from "./artifact-text.tsx";
import { growingText } from "./growing-text.server.ts";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta = titled("Escrito");

export async function loader({ context, params: { id }, request }: Route.LoaderArgs) {
  const api = context.get(apiContext);
  const artifact = await read(api.api.artifact[":id"].$get({ param: { id }, query: {} }));
  const { title, shown } = artifact;
  const light = context.get(lightContext);
  if (shown) return { id, title, marker: undefined, text: await showText({ ...artifact, version: shown.n, light }, 1) };
  const marker = newId();
  context.set(liveContext, { marker, ...growingText(api, id, artifact, request.signal) });
  return { id, title, marker, text: undefined };
}

/** An artifact for the frame beside its conversation: its text, as it is or as it grows. */
export default function Sheet({ loaderData: { id, title, marker, text } }: Route.ComponentProps) {
  return (
    <main className="artifact-sheet" id="contenido">
      <h1 className="break-words">{title}</h1>
      <p className="mt-2">
        <a href={`/conversation/escrito/${id}`} target="_top">
          Abrir el escrito
        </a>
        {text && text.pages > 1 && ` (aquí, la primera de ${text.pages} páginas)`}
      </p>
      {marker !== undefined && (
        // Safe: the server makes both the marker and the HTML in its place.
        <div className="mt-5" dangerouslySetInnerHTML={{ __html: marker }} />
      )}
      {text && (
        <div className="mt-5">
          <ArtifactText text={text} />
        </div>
      )}
    </main>
  );
}
