import { Link, useOutlet } from "react-router";
import { v7 as newId } from "uuid";
import { limits } from "../../../process/limits.ts";
import { Bar } from "../../../ui/bar.tsx";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { Icon } from "../../../ui/icon.tsx";
import { showSeen } from "../../../ui/navigation/pages-seen.ts";
import { BehindDialog } from "../../../ui/overlays/behind-dialog.tsx";
import { ago } from "../../../ui/times.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { showFile } from "../../../web/file-display.server.ts";
import { attachedFiles } from "../../../web/forms/uploads.server.ts";
import { ChatRow } from "../chat/chat-row.tsx";
import { Composer } from "../composer/composer.tsx";
import { planLeft } from "../composer/plan-left.server.ts";
import { send } from "../composer/send.server.ts";
import { listModels } from "../models.server.ts";
import type { Route } from "./+types/project";

export const meta: Route.MetaFunction = ({ loaderData }) => [
  { title: `${loaderData?.project.name ?? "Proyecto"} · Tertulia` },
];

export async function loader({ context, params: { id } }: Route.LoaderArgs) {
  const { api } = context.get(apiContext);
  const filter = JSON.stringify({ projectId: id });
  const documentsQuery = { filter, sort: '{"name":"asc"}', limit: String(limits.listMax) };
  const [project, chats, documents, models, left] = await Promise.all([
    read(api.project[":id"].$get({ param: { id } })),
    read(api.chat.$get({ query: { filter, limit: String(limits.listMax) } })),
    read(api.file.$get({ query: documentsQuery })),
    listModels(context),
    planLeft(context),
  ]);
  const now = Date.now();
  const { name, description, instructions } = project;
  return {
    project: { name, description, instructions },
    chats: chats.items.map(({ id: chatId, title, extract, lastMessageAt }) => ({
      id: chatId,
      title,
      extract,
      when: ago(lastMessageAt, now),
    })),
    total: chats.total,
    documents: documents.items.map((file) => ({ ...showFile(file.id, file), id: file.id })),
    models,
    left,
    draft: project.draft && { ...project.draft, files: await attachedFiles(context, project.draft.fileIds) },
    key: newId(),
  };
}

export const action = ({ context, params }: Route.ActionArgs) => send(context, { projectId: params.id });

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);
export const clientLoader = (args: Route.ClientLoaderArgs) => showSeen(args);

export default function Project({ loaderData, actionData, params }: Route.ComponentProps) {
  const { project, chats, documents, models, left, draft, key } = loaderData;
  const dialog = useOutlet();
  const here = `/conversation/project/${params.id}`;
  return (
    <BehindDialog dialog={dialog}>
      <Bar keeps="composer">
        <p className="where">
          <Link to="/conversation/project">Proyectos</Link>
        </p>
        <Link className="button quiet small" to={`${here}/editar`} preventScrollReset>
          Editar
        </Link>
        <Link className="button quiet small" to={`${here}/eliminar`} preventScrollReset>
          Eliminar
        </Link>
      </Bar>
      <main className="page" id="contenido">
        <div className="in project">
          <header>
            <h1>{project.name}</h1>
            {project.description && <p className="whitespace-pre-wrap">{project.description}</p>}
          </header>
          <div className="ask">
            <Composer
              key={params.id}
              projectId={params.id}
              sendKey={key}
              left={left}
              models={models}
              draft={draft}
              result={actionData ?? undefined}
              placeholder="Pregunta sobre este proyecto"
            />
            <Chats chats={chats} />
          </div>
          <div className="shelf">
            <section aria-labelledby="instrucciones">
              <h2 id="instrucciones">Instrucciones</h2>
              <p className="whitespace-pre-wrap text-text-2">
                {project.instructions || "No hay. Con «Editar» dices cómo quieres que responda el modelo aquí."}
              </p>
            </section>
            <section aria-labelledby="documentos">
              <div className="head">
                <h2 id="documentos">Documentos</h2>
                <Link to={`${here}/documentos/crear`} preventScrollReset>
                  Añadir
                </Link>
              </div>
              <Documents here={here} documents={documents} />
            </section>
          </div>
        </div>
      </main>
    </BehindDialog>
  );
}

function Chats({ chats }: Pick<Route.ComponentProps["loaderData"], "chats">) {
  return (
    <section aria-labelledby="charlas">
      <h2 id="charlas">Conversaciones</h2>
      {chats.length === 0 ? (
        <p className="text-text-2">Aún no hay ninguna. Lo que escribas arriba empieza la primera.</p>
      ) : (
        <ul className="rows">
          {chats.map((chat) => (
            <ChatRow key={chat.id} {...chat} />
          ))}
        </ul>
      )}
    </section>
  );
}

type ProjectDocument = { id: string; name: string; detail: string; image: boolean };

function Documents({ here, documents }: { here: string; documents: ProjectDocument[] }) {
  if (documents.length === 0) {
    return <p className="text-text-2">No hay. El modelo responde también con lo que digan los que añadas.</p>;
  }
  return (
    <ul className="rows">
      {documents.map(({ id, name, detail }) => (
        <li key={id} className="row">
          <Icon name="document" />
          <div>
            <Link className="title clip" to={`/user/file/${id}`}>
              {name}
            </Link>
            <p className="line">{detail}</p>
          </div>{" "}
          <span className="end">
            <Link className="button quiet small only" to={`${here}/documentos/${id}/eliminar`} preventScrollReset>
              <Icon name="trash" label={`Eliminar documento ${name}`} />
            </Link>
          </span>
        </li>
      ))}
    </ul>
  );
}
