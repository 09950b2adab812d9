import { Link } from "react-router";
import { v7 as newId } from "uuid";
import { read } from "../../answers.server.ts";
import type { Client } from "../../api/client.server.ts";
import { apiContext } from "../../context.ts";
import { limits } from "../../limits.ts";
import { currentPerson } from "../../person.server.ts";
import { Bar } from "../../ui/bar.tsx";
import { showSeen } from "../../ui/pages-seen.ts";
import { SearchField } from "../../ui/search-field.tsx";
import { sendForm } from "../../ui/send-form.ts";
import { ago } from "../../ui/times.ts";
import { attachedFiles } from "../../uploads.server.ts";
import type { Route } from "./+types/new-chat";
import { Composer } from "./composer.tsx";
import { listModels } from "./models.server.ts";
import { planLeft } from "./plan-left.server.ts";
import { type Found, SearchResults } from "./search.tsx";
import { send } from "./send.server.ts";

export const meta: Route.MetaFunction = () => [{ title: "Nueva conversación · Tertulia" }];

const recentShown = 8;

export async function loader({ context, url }: Route.LoaderArgs) {
  const api = context.get(apiContext);
  const { user } = await currentPerson(context);
  const archive = url.searchParams.has("archivadas");
  const filter = JSON.stringify({ userId: user.id, archived: archive });
  const q = url.searchParams.get("q")?.trim().slice(0, limits.search) ?? "";
  const [models, left, recent, found] = await Promise.all([
    listModels(context),
    planLeft(context),
    read(api.api.chat.$get({ query: { filter, limit: String(archive ? limits.listMax : recentShown) } })),
    q ? read(api.api.search.$get({ query: { q } })) : undefined,
  ]);
  const now = Date.now();
  return {
    greeting: `${greeting(new Date())}, ${user.name.split(" ")[0]}`,
    models,
    left,
    draft: user.draft && { ...user.draft, files: await attachedFiles(context, user.draft.fileIds) },
    key: newId(),
    recent: recent.items.map(({ id, title, lastMessageAt }) => ({ id, title, when: ago(lastMessageAt, now) })),
    archive,
    found: found && showFound(q, found, now),
  };
}

type Answer = Awaited<ReturnType<Awaited<ReturnType<Client["api"]["search"]["$get"]>>["json"]>>;

const showFound = (q: string, { chats, messages, files }: Answer, now: number): Found => ({
  q,
  chats: chats.map(({ id, title, lastMessageAt }) => ({ id, title, when: ago(lastMessageAt, now) })),
  messages: messages.map(({ id, chatId, title, role, createdAt, excerpt }) => ({
    id,
    chatId,
    title,
    who: role === "user" ? "Tú" : "Respuesta",
    when: ago(createdAt, now),
    excerpt,
  })),
  files: files.map(({ id, name, page, position, createdAt, excerpt }) => ({
    name: page ? `${name}, página ${page}` : name,
    to: `/user/file/${id}?pasaje=${position}#pasaje-${position}`,
    when: ago(createdAt, now),
    excerpt,
  })),
});

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
  const { models, left, draft, key, recent, archive, found } = loaderData;
  return (
    <>
      <Bar keeps="composer">
        <span className="flex-1" />
      </Bar>
      <main className="start" id="contenido">
        <h1>{loaderData.greeting}</h1>
        <Composer
          // A search must not touch what is being written; a sent message leads to its chat.
          key="new"
          sendKey={key}
          left={left}
          models={models}
          draft={draft}
          result={actionData ?? undefined}
          placeholder="Pregunta algo o pega un texto"
          autoFocus={!found}
        />
        <label className="check mt-3">
          <input
            type="checkbox"
            name="temporary"
            value="1"
            form="composer"
            defaultChecked={actionData?.values.temporary === "1"}
          />
          <span>Temporal: se borra al cerrar sesión, y no sale en la barra ni en la búsqueda.</span>
        </label>
        <section aria-labelledby="recientes">
          <div className="head">
            <h2 id="recientes">{found ? "Resultados" : archive ? "Archivadas" : "Recientes"}</h2>
            <SearchField
              id="buscar"
              action="/conversation/chat"
              size={30}
              label="Buscar en todos los mensajes"
              q={found?.q ?? ""}
            />
          </div>
          {found ? <SearchResults found={found} /> : <Recent chats={recent} archive={archive} />}
        </section>
      </main>
    </>
  );
}

function Recent({ chats, archive }: { chats: { id: string; title: string; when: string }[]; archive: boolean }) {
  return (
    <>
      {chats.length === 0 ? (
        <p className="mt-4 text-text-2">
          {archive
            ? "No hay conversaciones archivadas."
            : "Aún no hay conversaciones. Lo que escribas aquí se guarda y lo encontrarás en la barra."}
        </p>
      ) : (
        <ul className="rows mt-4">
          {chats.map(({ id, title, when }) => (
            <li key={id} className="row">
              <Link className="title clip" to={`/conversation/chat/${id}`} data-ahead>
                {title}
              </Link>{" "}
              <span className="end">{when}</span>
            </li>
          ))}
        </ul>
      )}
      <p className="mt-4 text-text-2">
        {archive ? (
          <Link to="/conversation/chat">Ver las recientes</Link>
        ) : (
          <Link to="/conversation/chat?archivadas">Ver las archivadas</Link>
        )}{" "}
        · <Link to="/conversation/chat/organizar">Organizar varias</Link> ·{" "}
        <Link to="/conversation/chat/importar">Importar</Link>
      </p>
    </>
  );
}
