import { digitalSource } from "../../../process/text/digital-source.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { dashboardOf } from "../../../web/dashboard.server.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import { listModels, type ModelChoice } from "../models.server.ts";
import { ReplyParts } from "../reply/reply-parts.tsx";
import { type BranchMessage, showPart } from "../turn/turns.server.ts";
import type { Route } from "./+types/print-chat";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];

export const meta: Route.MetaFunction = ({ loaderData }) => [{ title: loaderData?.title ?? "Conversación" }];

// More pages of a branch than anyone prints.
const pagesAtMost = 40;

export async function loader({ context, params, url }: Route.LoaderArgs) {
  const param = { id: params.id };
  const through = url.searchParams.get("version") ?? undefined;
  const { api } = context.get(apiContext);
  const [chat, models, { aiNotice }] = await Promise.all([
    read(api.chat[":id"].$get({ param })),
    listModels(context),
    dashboardOf(context),
  ]);
  const turns: Awaited<ReturnType<typeof showPrinted>>[] = [];
  let before: string | undefined;
  let cut = true;
  for (let page = 0; cut && page < pagesAtMost; page++) {
    const { items, hasEarlier } = await read(api.chat[":id"].messages.$get({ param, query: { before, through } }));
    turns.unshift(...(await Promise.all(items.map((message) => showPrinted(chat, message, models)))));
    before = items[0]?.id;
    cut = hasEarlier;
  }
  return { title: chat.title, aiNotice, turns, cut };
}

const showPrinted = async (chat: { id: string; userId: string }, message: BranchMessage, models: ModelChoice[]) => ({
  id: message.id,
  files: message.attachments.map(({ name }) => `«${name}»`).join(", "),
  who: message.role === "user" ? "Pregunta" : (models.find(({ id }) => id === message.modelId)?.name ?? "Respuesta"),
  source: message.role === "user" ? undefined : digitalSource.generated,
  text: message.role === "user" ? message.content : "",
  // Without sources: their numbers would lead nowhere on paper.
  parts: await Promise.all(
    message.parts.map((part) => showPart(chat, { ...message, sources: [] }, part, { folds: true, light: false })),
  ),
});

/** The branch of a chat (its last `pagesAtMost` pages) for printing, without navigation or script. */
export default function PrintChat({ loaderData: { title, aiNotice, turns, cut } }: Route.ComponentProps) {
  return (
    <main className="leaf printed" id="contenido">
      <h1>{title}</h1>
      <p className="mt-2 text-text-2">{aiNotice}</p>
      {cut && <p>Es tan larga que aquí solo están sus últimos mensajes. Entera está en Markdown, DOCX o JSON.</p>}
      {turns.map(({ id, who, source, files, text, parts }) => (
        <article key={id} data-digital-source-type={source}>
          <h2>{who}</h2>
          {files && <p>Con {files}.</p>}
          {text && <p className="whitespace-pre-wrap">{text}</p>}
          <ReplyParts parts={parts} />
        </article>
      ))}
    </main>
  );
}
