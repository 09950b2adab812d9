import { digitalSource } from "../../../process/text/digital-source.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { dashboardOf } from "../../../web/dashboard.server.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import type { Route } from "./+types/print-artifact";
import { showAll } from "./artifact-text.server.ts";
import { ArtifactText } from "./artifact-text.tsx";
import { versionIn } from "./version-in.ts";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta: Route.MetaFunction = ({ loaderData }) => [{ title: loaderData?.title ?? "Escrito" }];

export async function loader({ context, params: { id }, url }: Route.LoaderArgs) {
  const [artifact, { aiNotice }] = await Promise.all([
    read(context.get(apiContext).api.artifact[":id"].$get({ param: { id }, query: versionIn(url) })),
    dashboardOf(context),
  ]);
  const written = { ...artifact, version: artifact.shown?.n ?? 0, light: false };
  const pages = await showAll(written);
  const byModel = artifact.shown?.writer.person !== true;
  return {
    title: artifact.title,
    aiNotice: byModel ? aiNotice : undefined,
    pages,
    isCut: pages.length < (pages[0]?.pages ?? 1),
  };
}

/** A version of an artifact for printing, without navigation or script. */
export default function PrintArtifact({ loaderData: { title, aiNotice, pages, isCut } }: Route.ComponentProps) {
  return (
    <main className="leaf printed" id="contenido">
      <h1>{title}</h1>
      {aiNotice && <p className="mt-2 text-text-2">{aiNotice}</p>}
      <article data-digital-source-type={aiNotice ? digitalSource.generated : undefined}>
        {pages.map((text) => (
          <ArtifactText key={text.page} text={text} />
        ))}
        {isCut && <p>Es tan larga que aquí solo están sus primeras filas. Entera está en CSV.</p>}
      </article>
    </main>
  );
}
