import { digitalSource } from "../../../../process/text/digital-source.ts";
import { dayInWords } from "../../../../process/time-zones.server.ts";
import { named } from "../../../../ui/navigation/page-title.ts";
import { Wordmark } from "../../../../ui/wordmark.tsx";
import { read } from "../../../../web/api-result.server.ts";
import { apiContext, lightContext } from "../../../../web/context.ts";
import { zoneOfPerson } from "../../../../web/house.server.ts";
import { showText } from "../artifact-text.server.ts";
import { ArtifactText, Downloads, TextPages } from "../artifact-text.tsx";
import type { Route } from "./+types/shared-artifact";

export const meta: Route.MetaFunction = ({ loaderData, matches }) => [
  ...named(matches, loaderData?.title ?? "Escrito"),
  // Anybody with the link may read the artifact; search engines must not list it.
  { name: "robots", content: "noindex" },
];

export async function loader({ context, params: { token }, url, request }: Route.LoaderArgs) {
  const artifact = await read(context.get(apiContext).api.share.artifact[":token"].$get({ param: { token } }));
  const { title, kind, version, aiNotice, writtenAt } = artifact;
  const [page = "1"] = /^\d{1,7}$/.exec(url.searchParams.get("pagina") ?? "") ?? [];
  const shown = {
    ...artifact,
    id: token,
    userId: token,
    light: context.get(lightContext),
    drawingsAt: `/compartido/escrito/${token}/dibujo/${version}/`,
  };
  return {
    title,
    kind,
    aiNotice,
    writtenAt: dayInWords(writtenAt, await zoneOfPerson(context, request)),
    text: await showText(shown, Number(page)),
  };
}

/** An artifact that somebody has shared, to read and to download, with no script. */
export default function SharedArtifact({ loaderData, params: { token } }: Route.ComponentProps) {
  const { title, kind, aiNotice, writtenAt, text } = loaderData;
  const here = `/compartido/escrito/${token}`;
  return (
    <main className="leaf printed" id="contenido">
      <p className="mb-8">
        <Wordmark />
      </p>
      <h1 className="break-words">{title}</h1>
      <p className="mt-2 text-text-2">Escrito compartido, del {writtenAt}.</p>
      {aiNotice && <p className="mt-2 text-text-2">{aiNotice}</p>}
      <Downloads at={`${here}/descargar`} kind={kind} version={undefined} />
      <article className="mt-6" data-digital-source-type={aiNotice ? digitalSource.generated : undefined}>
        <ArtifactText text={text} />
      </article>
      <TextPages to={(page) => `${here}?pagina=${page}`} {...text} />
    </main>
  );
}
