import { Link } from "react-router";
import { renderedText } from "../../markdown/rendered.server.ts";
import { digitalSource } from "../../process/text/digital-source.ts";
import { dayInWords } from "../../process/time-zones.server.ts";
import { AttachedFile } from "../../ui/forms/attached-file.tsx";
import { MadeImage } from "../../ui/made-image.tsx";
import { named } from "../../ui/navigation/page-title.ts";
import { Wordmark } from "../../ui/wordmark.tsx";
import { read } from "../../web/api-result.server.ts";
import { apiContext, lightContext } from "../../web/context.ts";
import { showFile } from "../../web/file-display.server.ts";
import { zoneOfPerson } from "../../web/house.server.ts";
import type { Route } from "./+types/shared-chat";
import { lastPage } from "./shared-drawing.ts";

export const meta: Route.MetaFunction = ({ loaderData, matches }) => [
  ...named(matches, loaderData?.title ?? "Conversación"),
  // Anybody with the link may read the chat; search engines must not list it.
  { name: "robots", content: "noindex" },
  {
    "script:ld+json": {
      "@context": "https://schema.org",
      "@type": "Conversation",
      name: loaderData?.title,
      digitalSourceType: "https://schema.org/CompositeWithTrainedAlgorithmicMediaDigitalSource",
    },
  },
];

export async function loader({ context, params, url, request }: Route.LoaderArgs) {
  const light = context.get(lightContext);
  const before = url.searchParams.get("antes") ?? undefined;
  const chat = await read(
    context.get(apiContext).api.share[":token"].$get({ param: { token: params.token }, query: { before } }),
  );
  return {
    title: chat.title,
    aiNotice: chat.aiNotice,
    sharedAt: dayInWords(chat.sharedAt, await zoneOfPerson(context, request)),
    earlier: chat.hasEarlier ? chat.items[0]?.id : undefined,
    turns: await Promise.all(
      chat.items.map(async ({ id, role, model, content, attachments, images, withoutFiles }) => ({
        id,
        images,
        withoutFiles,
        files: attachments.map((file) => showFile(file.fileId, file)),
        who: role === "user" ? "Pregunta" : (model ?? "Respuesta"),
        source: role === "user" ? undefined : digitalSource.generated,
        text: role === "user" ? content : "",
        html: role === "user" ? "" : await renderShared(params.token, before, { id, content, light }),
      })),
    ),
  };
}

type Shared = { id: string; content: string; light: boolean };

function renderShared(token: string, before: string | undefined, { id, content, light }: Shared): Promise<string> {
  const at = `/compartido/${token}/dibujo/${before ?? lastPage}/${id}/`;
  return renderedText(`${token}:${before}:${id}`, content, { drawingsAt: at, light }, token);
}

/** A chat that somebody has shared: to read, with no script. */
export default function SharedChat({ loaderData, params }: Route.ComponentProps) {
  const { title, aiNotice, sharedAt, earlier, turns } = loaderData;
  return (
    <main className="leaf printed" id="contenido">
      <p className="mb-8">
        <Wordmark />
      </p>
      <h1>{title}</h1>
      <p className="mt-2 text-text-2">Conversación compartida el {sharedAt}.</p>
      <p className="mt-2 text-text-2">{aiNotice}</p>
      {earlier && (
        <p className="mt-6">
          <Link className="button small" to={`?antes=${earlier}`}>
            Ver mensajes anteriores
          </Link>
        </p>
      )}
      {turns.map(({ id, who, source, files, images, withoutFiles, text, html }) => (
        <article key={id} data-digital-source-type={source}>
          <h2>{who}</h2>
          {files.length > 0 && (
            <ul className="attached mb-3">
              {files.map((file) => {
                const content = `/compartido/${params.token}/archivo/${file.id}`;
                return <AttachedFile key={file.id} file={file} content={content} text={content} />;
              })}
            </ul>
          )}
          {withoutFiles && <p className="mb-3 text-text-2">Con archivos que no se comparten.</p>}
          {images.map((image) => (
            <MadeImage
              key={image.fileId}
              image={image}
              content={`/compartido/${params.token}/archivo/${image.fileId}`}
            />
          ))}
          {text ? (
            <p className="whitespace-pre-wrap">{text}</p>
          ) : (
            // Safe: the HTML comes from our own Markdown renderer, which lets no raw HTML through.
            <div className="prose" dangerouslySetInnerHTML={{ __html: html }} />
          )}
        </article>
      ))}
    </main>
  );
}
