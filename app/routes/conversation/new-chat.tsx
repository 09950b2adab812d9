import type { ReactNode } from "react";
import { Link, useSearchParams } from "react-router";
import { v7 as newId } from "uuid";
import { limits } from "../../process/limits.ts";
import { Bar } from "../../ui/bar.tsx";
import { SearchField } from "../../ui/forms/search-field.tsx";
import { sendForm } from "../../ui/forms/send-form.ts";
import { titled } from "../../ui/navigation/page-title.ts";
import { showSeen } from "../../ui/navigation/pages-seen.ts";
import { ago } from "../../ui/times.ts";
import type { Client } from "../../web/api-client.server.ts";
import { read } from "../../web/api-result.server.ts";
import { apiContext, keepContext } from "../../web/context.ts";
import { requireUser } from "../../web/current-user.server.ts";
import { attachedFiles, type ComposerFile } from "../../web/forms/uploads.server.ts";
import { searchIn } from "../../web/search.server.ts";
import type { Route } from "./+types/new-chat";
import { beginOf } from "./begin.server.ts";
import { ChatRow } from "./chat/chat-row.tsx";
import { Composer } from "./composer/composer.tsx";
import { planLeft } from "./composer/plan-left.server.ts";
import { type ComposerResult, send } from "./composer/send.server.ts";
import { listModels, type ModelChoice } from "./models.server.ts";
import { type FoundByWords, SearchResults } from "./search.tsx";
import { Blanks } from "./template/blanks-form.tsx";

export const meta = titled("Nueva conversación");

const recentShown = 8;

export async function loader({ context, url }: Route.LoaderArgs) {
  const api = context.get(apiContext);
  const { user } = await requireUser(context);
  const archive = url.searchParams.has("archivadas");
  const filter = JSON.stringify({ userId: user.id, archived: archive });
  const q = searchIn(url);
  const begins = await beginOf(context, url);
  const [models, left, recent, found] = await Promise.all([
    listModels(context),
    planLeft(context),
    read(api.api.chat.$get({ query: { filter, limit: String(archive ? limits.listMax : recentShown) } })),
    q ? read(api.api.search.$get({ query: { q } })) : undefined,
  ]);
  if (!q && !archive) context.set(keepContext, user.id);
  const now = Date.now();
  return {
    greeting: begins.assistant?.name ?? `${greeting(new Date())}, ${user.name.split(" ")[0]}`,
    begins,
    models,
    left,
    draft: withModel(
      user.draft && { ...user.draft, files: await attachedFiles(context, user.draft.fileIds) },
      url.searchParams.get("modelo"),
    ),
    key: newId(),
    recent: recent.items.map(({ id, title, extract, lastMessageAt }) => ({
      id,
      title,
      extract,
      when: ago(lastMessageAt, now),
    })),
    archive,
    searches: url.searchParams.has("buscar") || q !== "",
    found: found && showFound(q, found, now),
    newHouse: user.role === "admin" && recent.items.length === 0 && !archive,
    beginnings: begins.assistant?.beginnings ?? (recent.items.length === 0 && !archive ? beginningsFor(models) : []),
  };
}

/** A draft for the model that was chosen on its page. */
const withModel = (draft: NewDraft | null, modelId: string | null): NewDraft | null =>
  modelId ? { content: "", files: [], ...draft, modelId } : draft;

type NewDraft = { content: string; modelId: string | null; files: ComposerFile[] };
type SearchAnswer = Awaited<ReturnType<Awaited<ReturnType<Client["api"]["search"]["$get"]>>["json"]>>;

const showFound = (q: string, { chats, messages, files }: SearchAnswer, now: number): FoundByWords => ({
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

/** First questions for somebody with an empty list: questions for a language model, or for the assistant that only searches. */
function beginningsFor(models: ModelChoice[]): string[] {
  if (models.some(({ local }) => !local)) {
    return [
      "Explícame un concepto difícil con un ejemplo de cada día: ",
      "Corrige este texto y dime qué has cambiado:\n\n",
      "Hazme un plan de una semana para ",
    ];
  }
  return ["¿Qué puedes hacer sin un modelo de lenguaje?", "Guarda esta nota: ", "¿Qué he escrito sobre "];
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
  const { recent, archive, searches, found, beginnings } = loaderData;
  // The same key in both layouts keeps the composer mounted, with its text, when a search is opened or closed.
  const writing = <Writing key="writing" start={loaderData} result={actionData ?? undefined} />;
  const field = (
    <SearchField
      key={String(searches)}
      id="buscar"
      action="/conversation/chat"
      size={30}
      label="Buscar en todos los mensajes"
      q={found?.q}
      autoFocus={searches}
    />
  );
  return (
    <>
      <Bar keeps="composer">
        <span className="flex-1" />
      </Bar>
      <main className="start" id="contenido">
        {searches ? (
          [
            <Search key="found" found={found}>
              {field}
            </Search>,
            writing,
          ]
        ) : (
          <>
            <h1>{loaderData.greeting}</h1>
            {loaderData.begins.assistant?.purpose && (
              <p className="mb-5 text-text-2">{loaderData.begins.assistant.purpose}</p>
            )}
            {loaderData.begins.template ? <Blanks {...loaderData.begins.template} /> : writing}
            {beginnings.length > 0 && <Beginnings texts={beginnings} assistantId={loaderData.begins.assistant?.id} />}
            {loaderData.newHouse && (
              <p className="mt-6 text-text-2">
                Administras esta casa: <Link to="/admin#primeros-pasos">sus primeros pasos</Link>.
              </p>
            )}
            <section aria-labelledby="recientes">
              <div className="head">
                <h2 id="recientes">{archive ? "Archivadas" : "Recientes"}</h2>
                {field}
              </div>
              <Recent chats={recent} archive={archive} />
            </section>
          </>
        )}
      </main>
    </>
  );
}

type Start = Route.ComponentProps["loaderData"];

function Writing({ start, result }: { start: Start; result: ComposerResult | undefined }) {
  const { models, left, draft, key, searches, begins } = start;
  const [search] = useSearchParams();
  const empieza = begins.text ?? search.get("empieza");
  return (
    <div>
      <Composer
        key={`${begins.assistant?.id} ${empieza ?? "new"} ${search.get("modelo")}`}
        sendKey={key}
        left={left}
        models={models}
        assistantId={begins.assistant?.id ?? null}
        draft={
          empieza && !draft?.content
            ? { ...draft, modelId: begins.assistant ? null : (draft?.modelId ?? null), content: empieza }
            : draft && begins.assistant
              ? { ...draft, modelId: null }
              : draft
        }
        result={result}
        placeholder="Pregunta algo o pega un texto"
        autoFocus={!searches}
      />
      {models.length > 1 && (
        <p className="mt-3">
          <button className="action" type="submit" form="composer" name="intent" value="models" formNoValidate>
            Comparar modelos
          </button>
        </p>
      )}
      <label className="check mt-3">
        <input
          type="checkbox"
          name="temporary"
          value="1"
          form="composer"
          defaultChecked={result?.values.temporary === "1"}
        />
        <span>Temporal: se borra al cerrar sesión, y no sale en la barra ni en la búsqueda.</span>
      </label>
    </div>
  );
}

function Search({ found, children }: { found: Start["found"]; children: ReactNode }) {
  return (
    <section className="first" aria-labelledby="resultados">
      <h1 id="resultados">Buscar</h1>
      {children}
      {found ? (
        <SearchResults found={found} />
      ) : (
        <p className="mt-4 text-text-2">
          Se busca en los títulos, los mensajes y los documentos de todas tus conversaciones.
        </p>
      )}
    </section>
  );
}

/** Links that put a first text into the composer, where it can still be changed. */
function Beginnings({ texts, assistantId }: { texts: string[]; assistantId: string | undefined }) {
  const whose = assistantId ? `asistente=${assistantId}&` : "";
  return (
    <ul className="beginnings" aria-label="Para empezar">
      {texts.map((text) => (
        <li key={text}>
          <Link className="button small" to={`/conversation/chat?${whose}empieza=${encodeURIComponent(text)}`}>
            {/[:\s]$/.test(text) ? `${text.trim().replace(/:$/, "")}…` : text}
          </Link>
        </li>
      ))}
    </ul>
  );
}

type RecentChat = { id: string; title: string; extract: string; when: string };

function Recent({ chats, archive }: { chats: RecentChat[]; archive: boolean }) {
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
          {chats.map((chat) => (
            <ChatRow key={chat.id} {...chat} />
          ))}
        </ul>
      )}
      <p className="mt-4 text-text-2">
        {archive ? (
          <Link to="/conversation/chat">Ver las recientes</Link>
        ) : (
          <Link to="/conversation/chat?archivadas">Ver las archivadas</Link>
        )}{" "}
        · <Link to="/conversation/template">Plantillas</Link> ·{" "}
        <Link to="/conversation/schedule">Preguntas programadas</Link> · <a href="/conversation/encargo">Encargos</a> ·{" "}
        <a href="/conversation/escrito">Escritos</a> · <Link to="/conversation/chat/organizar">Organizar varias</Link> ·{" "}
        <Link to="/conversation/chat/importar">Importar</Link>
      </p>
    </>
  );
}
