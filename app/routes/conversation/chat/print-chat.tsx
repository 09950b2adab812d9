import { renderedMessage } from "../../../markdown/rendered.server.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import { listModels, type ModelChoice } from "../models.server.ts";
import type { Route } from "./+types/print-chat";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];

export const meta: Route.MetaFunction = ({ loaderData }) => [{ title: loaderData?.title ?? "Conversación" }];

// More pages of a branch than anyone prints.
const pagesAtMost = 40;

export async function loader({ context, params }: Route.LoaderArgs) {
  const param = { id: params.id };
  const { api } = context.get(apiContext);
  const [chat, models] = await Promise.all([read(api.chat[":id"].$get({ param })), listModels(context)]);
  const turns: Awaited<ReturnType<typeof showPrinted>>[] = [];
  let before: string | undefined;
  let cut = true;
  for (let page = 0; cut && page < pagesAtMost; page++) {
    const { items, hasEarlier } = await read(api.chat[":id"].messages.$get({ param, query: { before } }));
    turns.unshift(...(await Promise.all(items.map((message) => showPrinted(message, models, chat.userId)))));
    before = items[0]?.id;
    cut = hasEarlier;
  }
  return { title: chat.title, turns, cut };
}

const showPrinted = async (
  message: { id: string; role: string; content: string; modelId: string | null; attachments: { name: string }[] },
  models: ModelChoice[],
  owner: string,
) => ({
  id: message.id,
  files: message.attachments.map(({ name }) => `«${name}»`).join(", "),
  who: message.role === "user" ? "Pregunta" : (models.find(({ id }) => id === message.modelId)?.name ?? "Respuesta"),
  text: message.role === "user" ? message.content : "",
  html: message.role === "user" ? "" : await renderedMessage(message.id, message.content, 0, owner),
});

/** The whole branch of a chat, with nothing around it and no script. */
export default function PrintChat({ loaderData: { title, turns, cut } }: Route.ComponentProps) {
  return (
    <main className="leaf printed" id="contenido">
      <h1>{title}</h1>
      {cut && <p>Es tan larga que aquí solo están sus últimos mensajes. Entera está en Markdown o JSON.</p>}
      {turns.map(({ id, who, files, text, html }) => (
        <article key={id}>
          <h2>{who}</h2>
          {files && <p>Con {files}.</p>}
          {text ? (
            <p className="whitespace-pre-wrap">{text}</p>
          ) : (
            // Safe: it is our own Markdown renderer's, which lets no HTML through.
            <div className="prose" dangerouslySetInnerHTML={{ __html: html }} />
          )}
        </article>
      ))}
    </main>
  );
}
