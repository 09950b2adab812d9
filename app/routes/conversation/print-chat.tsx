import { read } from "../../answers.server.ts";
import { apiContext } from "../../context.ts";
import { requireActive, requireAuth } from "../../guards.server.ts";
import type { Route } from "./+types/print-chat";
import { listModels } from "./models.server.ts";
import { showTurns } from "./turns.server.ts";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];

export const meta: Route.MetaFunction = ({ loaderData }) => [{ title: loaderData?.title ?? "Conversación" }];

// More pages of a branch than anyone prints.
const pagesAtMost = 100;

export async function loader({ context, params }: Route.LoaderArgs) {
  const param = { id: params.id };
  const { api } = context.get(apiContext);
  const [chat, models] = await Promise.all([read(api.chat[":id"].$get({ param })), listModels(context)]);
  const turns: ReturnType<typeof showTurns> = [];
  let before: string | undefined;
  for (let page = 0; page < pagesAtMost; page++) {
    const { items, hasEarlier } = await read(api.chat[":id"].messages.$get({ param, query: { before } }));
    turns.unshift(...showTurns(items, models));
    before = items[0]?.id;
    if (!hasEarlier) break;
  }
  return { title: chat.title, turns: turns.map(({ id, role, name, text, html }) => ({ id, role, name, text, html })) };
}

/** The whole branch of a chat, with nothing around it and no script. */
export default function PrintChat({ loaderData: { title, turns } }: Route.ComponentProps) {
  return (
    <main className="leaf printed" id="contenido">
      <h1>{title}</h1>
      {turns.map(({ id, role, name, text, html }) => (
        <article key={id}>
          <h2>{role === "user" ? "Tú" : name}</h2>
          {role === "user" ? (
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
