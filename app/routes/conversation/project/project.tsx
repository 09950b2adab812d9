import { Link, useOutlet } from "react-router";
import { v7 as newId } from "uuid";
import { limits } from "../../../process/limits.ts";
import { Bar } from "../../../ui/bar.tsx";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { named } from "../../../ui/navigation/page-title.ts";
import { showSeen } from "../../../ui/navigation/pages-seen.ts";
import { BehindDialog } from "../../../ui/overlays/behind-dialog.tsx";
import { ago } from "../../../ui/times.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext, keepContext } from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";
import { showFile } from "../../../web/file-display.server.ts";
import { attachedFiles } from "../../../web/forms/uploads.server.ts";
import { ChatRow } from "../chat/chat-row.tsx";
import { Composer } from "../composer/composer.tsx";
import { planLeft } from "../composer/plan-left.server.ts";
import { send } from "../composer/send.server.ts";
import { listModels } from "../models.server.ts";
import type { Route } from "./+types/project";
import { Documents } from "./documents.tsx";
import { listDocuments } from "./list-documents.server.ts";
import { ListPages } from "./list-pages.tsx";
import { roles } from "./roles.ts";

export const meta: Route.MetaFunction = ({ loaderData, matches }) =>
  named(matches, loaderData?.project.name ?? "Proyecto");

export async function loader({ context, params: { id }, url }: Route.LoaderArgs) {
  const { api } = context.get(apiContext);
  const filter = JSON.stringify({ projectId: id });
  const after = url.searchParams.get("charlas");
  const chatsQuery = { filter, limit: String(limits.listMax), ...(after && { cursor: after }) };
  const [{ user }, project, members, chats, documents, models, left, drives, folders] = await Promise.all([
    requireUser(context),
    read(api.project[":id"].$get({ param: { id } })),
    read(api.project[":id"].members.$get({ param: { id } })),
    read(api.chat.$get({ query: chatsQuery })),
    listDocuments(context, id, url.searchParams.get("documentos")),
    listModels(context),
    planLeft(context),
    read(api["drive-account"].$get()),
    read(api.folder.$get({ query: { projectId: id } })),
  ]);
  const isMember = members.items.some(({ userId }) => userId === user.id);
  if (project.userId === user.id || isMember) context.set(keepContext, user.id);
  const now = Date.now();
  const { name, description, instructions } = project;
  const role = members.items.find(({ userId }) => userId === user.id)?.role;
  const mayWrite = role === "owner" || role === "writes";
  const nameOf = (userId: string) =>
    userId === user.id ? undefined : members.items.find((member) => member.userId === userId)?.name;
  return {
    project: { name, description, instructions },
    // An owner without other members needs no list of members.
    members: role === "owner" && members.items.length === 1 ? [] : members.items,
    // Administrators look after the projects of all, but do not write in them.
    owns: role === "owner" || user.role === "admin",
    writes: mayWrite,
    belongs: role !== undefined && role !== "owner",
    chats: chats.items.map(({ id: chatId, userId, title, extract, lastMessageAt }) => ({
      id: chatId,
      title,
      extract,
      author: nameOf(userId),
      when: ago(lastMessageAt, now),
    })),
    total: chats.total,
    moreChats: { earlier: after !== null, next: chats.nextCursor },
    documents: {
      ...documents,
      items: documents.items.map((file) => ({
        ...showFile(file.id, file),
        id: file.id,
        author: nameOf(file.userId),
        mayDelete: file.folderId === null && (file.userId === user.id || user.role === "admin"),
      })),
    },
    hasFolders: folders.items.length > 0 || (mayWrite && drives.items.some(({ usable }) => usable)),
    models,
    left,
    draft: project.draft && { ...project.draft, files: await attachedFiles(context, project.draft.fileIds) },
    sendKey: newId(),
  };
}

export const action = ({ context, params }: Route.ActionArgs) => send(context, { projectId: params.id });

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);
export const clientLoader = (args: Route.ClientLoaderArgs) => showSeen(args);

export default function Project({ loaderData, actionData, params }: Route.ComponentProps) {
  const { project, owns, writes, chats, moreChats, models, left, draft, sendKey } = loaderData;
  const dialog = useOutlet();
  const here = `/conversation/project/${params.id}`;
  return (
    <BehindDialog dialog={dialog}>
      <Bar keeps="composer">
        <p className="where">
          <Link to="/conversation/project">Proyectos</Link>
        </p>
        {owns && (
          <>
            <Link className="button quiet small" to={`${here}/editar`} preventScrollReset>
              Editar
            </Link>
            <Link className="button quiet small" to={`${here}/eliminar`} preventScrollReset>
              Eliminar
            </Link>
          </>
        )}
      </Bar>
      <main className="page" id="contenido">
        <div className="in project">
          <header>
            <h1>{project.name}</h1>
            {project.description && <p className="whitespace-pre-wrap">{project.description}</p>}
          </header>
          <div className="ask">
            {writes ? (
              <Composer
                key={params.id}
                projectId={params.id}
                sendKey={sendKey}
                left={left}
                models={models}
                draft={draft}
                result={actionData ?? undefined}
                placeholder="Pregunta sobre este proyecto"
              />
            ) : (
              <p className="text-text-2">En este proyecto puedes leer, y continuar en una copia lo que leas.</p>
            )}
            <Chats chats={chats} moreChats={moreChats} writes={writes} />
          </div>
          <Shelf {...loaderData} here={here} />
        </div>
      </main>
    </BehindDialog>
  );
}

type ShelfProps = Route.ComponentProps["loaderData"] & { here: string };

/** Instructions, members and documents of a project. */
function Shelf({ project, members, owns, writes, belongs, documents, hasFolders, here }: ShelfProps) {
  return (
    <div className="shelf">
      <section aria-labelledby="instrucciones">
        <h2 id="instrucciones">Instrucciones</h2>
        <p className="whitespace-pre-wrap text-text-2">
          {project.instructions ||
            (owns ? "No hay. Con «Editar» dices cómo quieres que responda el modelo aquí." : "No hay.")}
        </p>
      </section>
      <section aria-labelledby="miembros">
        <div className="head">
          <h2 id="miembros">Miembros</h2>
          {(owns || belongs) && (
            <Link to={`${here}/miembros`} preventScrollReset>
              {owns ? "Cambiar" : "Salir"}
              {owns && <span className="sr-only"> miembros</span>}
            </Link>
          )}
        </div>
        <Members members={members} />
      </section>
      <section aria-labelledby="documentos">
        <div className="head">
          <h2 id="documentos">Documentos</h2>
          <span className="buttons">
            {hasFolders && <a href={`${here}/carpetas`}>Carpetas</a>}{" "}
            {writes && (
              <Link to={`${here}/documentos/crear`} preventScrollReset>
                Añadir
              </Link>
            )}
          </span>
        </div>
        <Documents here={here} {...documents} />
      </section>
    </div>
  );
}

function Chats({
  chats,
  moreChats,
  writes,
}: Pick<Route.ComponentProps["loaderData"], "chats" | "moreChats" | "writes">) {
  return (
    <section aria-labelledby="charlas">
      <h2 id="charlas">Conversaciones</h2>
      {chats.length === 0 ? (
        <p className="text-text-2">Aún no hay ninguna.{writes && " Lo que escribas arriba empieza la primera."}</p>
      ) : (
        <ul className="rows">
          {chats.map((chat) => (
            <ChatRow key={chat.id} {...chat} />
          ))}
        </ul>
      )}
      <ListPages of="charlas" label="Más conversaciones" {...moreChats} />
    </section>
  );
}

function Members({ members }: Pick<Route.ComponentProps["loaderData"], "members">) {
  if (members.length === 0)
    return <p className="text-text-2">Solo tú. A quien añadas verá sus conversaciones y documentos.</p>;
  return (
    <ul className="rows">
      {members.map(({ userId, name, role }) => (
        <li key={userId} className="row">
          <div>
            <p className="title clip">{name}</p>
            <p className="line">{roles[role]}</p>
          </div>
        </li>
      ))}
    </ul>
  );
}
