import { data } from "react-router";
import { renderSafely } from "../../../markdown/rendered.server.ts";
import { DashboardPage } from "../../../ui/dashboard-page.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import type { Route } from "./+types/reasoning";
import { thinking, thoughtWords } from "./thought-words.ts";

export const meta = titled("Razonamiento");

/** All that a model thought for a reply; for browsers without folds, and for thoughts that are too long for a fold. */
export async function loader({ context, params }: Route.LoaderArgs) {
  const { api } = context.get(apiContext);
  const [reply, chat] = await Promise.all([
    read(api.message[":id"].$get({ param: { id: params.messageId } })),
    read(api.chat[":id"].$get({ param: { id: params.id } })),
  ]);
  if (reply.chatId !== chat.id) throw data(null, 404);
  const thoughts = await Promise.all(
    reply.parts.flatMap((part) =>
      part.kind === "reasoning"
        ? renderSafely(part.text, chat.userId).then((html) => ({
            n: part.n,
            words: part.running ? thinking : thoughtWords(part.ms),
            html,
          }))
        : [],
    ),
  );
  return { title: chat.title, thoughts };
}

export default function Reasoning({ loaderData: { title, thoughts }, params }: Route.ComponentProps) {
  const back = `/conversation/chat/${params.id}?mensaje=${params.messageId}#m-${params.messageId}`;
  return (
    <DashboardPage width="document" up={[back, title]}>
      <h1>Razonamiento</h1>
      <p className="text-text-2">
        {thoughts.length > 0
          ? "Lo que el modelo pensó antes de escribir. No se le vuelve a enviar, ni aparece en las búsquedas ni en lo que compartes."
          : "El modelo escribió esta respuesta sin pensar antes en voz alta."}
      </p>
      {thoughts.map(({ n, words, html }) => (
        <section key={n} aria-label={words}>
          <h2>{words}</h2>
          {/* Safe: made by our own renderer, with raw HTML off. */}
          <div className="prose" dir="auto" dangerouslySetInnerHTML={{ __html: html }} />
        </section>
      ))}
    </DashboardPage>
  );
}
