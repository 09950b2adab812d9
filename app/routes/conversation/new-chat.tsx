import { Link } from "react-router";
import { v7 as newId } from "uuid";
import { read } from "../../answers.server.ts";
import { apiContext } from "../../context.ts";
import { currentPerson } from "../../person.server.ts";
import { Bar } from "../../ui/bar.tsx";
import { showSeen } from "../../ui/pages-seen.ts";
import { sendForm } from "../../ui/send-form.ts";
import type { Route } from "./+types/new-chat";
import { Composer } from "./composer.tsx";
import { listModels } from "./models.server.ts";
import { send } from "./send.server.ts";
import { ago } from "./times.ts";

export const meta: Route.MetaFunction = () => [{ title: "Nueva conversación · Tertulia" }];

const recentShown = 8;

export async function loader({ context }: Route.LoaderArgs) {
  const api = context.get(apiContext);
  const { user } = await currentPerson(context);
  const filter = JSON.stringify({ userId: user.id, archived: false });
  const [models, recent] = await Promise.all([
    listModels(context),
    read(api.api.chat.$get({ query: { filter, limit: String(recentShown) } })),
  ]);
  return {
    greeting: `${greeting(new Date())}, ${user.name.split(" ")[0]}`,
    models,
    draft: user.draft,
    key: newId(),
    recent: recent.items.map(({ id, title, lastMessageAt }) => ({ id, title, when: ago(lastMessageAt, Date.now()) })),
  };
}

function greeting(now: Date): string {
  const hour = now.getHours();
  if (hour < 6) return "Buenas noches";
  if (hour < 13) return "Buenos días";
  return hour < 20 ? "Buenas tardes" : "Buenas noches";
}

export const action = ({ context }: Route.ActionArgs) => send(context);

export const clientLoader = (args: Route.ClientLoaderArgs) => showSeen(args);
export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function NewChat({ loaderData, actionData }: Route.ComponentProps) {
  const { models, draft, key, recent } = loaderData;
  return (
    <>
      <Bar keeps="composer">
        <span className="flex-1" />
      </Bar>
      <main className="start" id="contenido">
        <h1>{loaderData.greeting}</h1>
        <Composer
          key={key}
          sendKey={key}
          models={models}
          draft={draft}
          result={actionData ?? undefined}
          placeholder="Pregunta algo o pega un texto"
          autoFocus
        />
        <section aria-labelledby="recientes">
          <h2 id="recientes">Recientes</h2>
          {recent.length === 0 ? (
            <p className="mt-4 text-text-2">
              Aún no hay conversaciones. Lo que escribas aquí se guarda y lo encontrarás en la barra.
            </p>
          ) : (
            <ul className="rows mt-4">
              {recent.map(({ id, title, when }) => (
                <li key={id} className="row">
                  <Link className="title clip" to={`/conversation/chat/${id}`} data-ahead>
                    {title}
                  </Link>{" "}
                  <span className="end">{when}</span>
                </li>
              ))}
            </ul>
          )}
        </section>
      </main>
    </>
  );
}
