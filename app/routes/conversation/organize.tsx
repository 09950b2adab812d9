import { data, Link, redirect, useLocation } from "react-router";
import { DashboardPage } from "../../ui/dashboard-page.tsx";
import { PostForm } from "../../ui/forms/post-form.tsx";
import { SearchField } from "../../ui/forms/search-field.tsx";
import { Select } from "../../ui/forms/select.tsx";
import { sendForm } from "../../ui/forms/send-form.ts";
import { Icon } from "../../ui/icon.tsx";
import { titled } from "../../ui/navigation/page-title.ts";
import { BehindDialog } from "../../ui/overlays/behind-dialog.tsx";
import { SureDialog } from "../../ui/overlays/sure-dialog.tsx";
import { ago } from "../../ui/times.ts";
import { accepted, everyCall, read, refusalIn } from "../../web/api-result.server.ts";
import { apiContext, formContext, sessionContext } from "../../web/context.ts";
import { requireUser } from "../../web/current-user.server.ts";
import { textOf } from "../../web/forms/form.server.ts";
import { searchIn } from "../../web/search.server.ts";
import type { Route } from "./+types/organize";
import { ownProjects } from "./project/own-projects.server.ts";

export const meta = titled("Organizar conversaciones");

const shown = "50";

export async function loader({ context, url }: Route.LoaderArgs) {
  const client = context.get(apiContext);
  const { api } = client;
  const { user } = await requireUser(context);
  const archive = url.searchParams.has("archivadas");
  const q = searchIn(url);
  const cursor = url.searchParams.get("cursor");
  const filter = JSON.stringify({ userId: user.id, archived: archive });
  const [chats, projects] = await Promise.all([
    read(api.chat.$get({ query: { filter, limit: shown, ...(q && { q }), ...(cursor && { cursor }) } })),
    ownProjects(client, user.id),
  ]);
  const now = Date.now();
  const rest = { ...(q && { q }), ...(archive && { archivadas: "" }) };
  return {
    q,
    archive,
    total: chats.total,
    chats: chats.items.map(({ id, title, lastMessageAt }) => ({ id, title, when: ago(lastMessageAt, now) })),
    next: chats.nextCursor && `?${new URLSearchParams({ ...rest, cursor: chats.nextCursor })}`,
    projects,
  };
}

export async function action({ context, url }: Route.ActionArgs) {
  const form = context.get(formContext);
  const ids = [...new Set(form.getAll("chat"))].filter((id) => typeof id === "string");
  const intent = textOf(form, "intent");
  if (!Object.hasOwn(said, intent)) return data({ message: "Elige qué hacer con ellas." }, 422);
  if (ids.length === 0) return data({ message: "Marca al menos una conversación." }, 422);
  if (intent === "delete" && textOf(form, "sure") !== "1") return { asks: ids };
  const refusals = await Promise.all(ids.map((id) => change(context, id, intent, textOf(form, "projectId"))));
  const count = refusals.filter((refusal) => refusal === undefined).length;
  const title = `${said[intent]}: ${count === 1 ? "una conversación" : `${count} conversaciones`}.`;
  const description = [...new Set(refusals)].filter(Boolean).join(" ");
  const type = count > 0 && !description ? "success" : "warning";
  context.get(sessionContext).flash({ type, title, ...(description && { description, duration: 0 }) });
  return redirect(url.pathname + url.search, 303);
}

const said: Record<string, string> = {
  archive: "Al archivo",
  unarchive: "Fuera del archivo",
  move: "De proyecto cambiadas",
  delete: "Eliminadas",
};

/** Changes one of several chats. Returns why the chat was not changed; empty: it is gone. Neither case stops the other changes. */
async function change(
  context: Route.ActionArgs["context"],
  id: string,
  intent: string,
  projectId: string,
): Promise<string | undefined> {
  const chat = context.get(apiContext).api.chat[":id"];
  const json = intent === "move" ? { projectId: projectId || null } : { archived: intent === "archive" };
  try {
    await (intent === "delete"
      ? accepted(chat.$delete({ param: { id } }))
      : accepted(chat.$patch({ param: { id }, json })));
    return undefined;
  } catch (error) {
    const { status, detail } = refusalIn(error, everyCall);
    return status === 404 ? "" : detail;
  }
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function Organize({ loaderData, actionData }: Route.ComponentProps) {
  const { q, archive, total, chats, next } = loaderData;
  const answer: { message?: string; asks?: string[] } | null | undefined = actionData;
  const { pathname, search } = useLocation();
  return (
    <BehindDialog dialog={answer?.asks && <Sure ids={answer.asks} here={pathname + search} />}>
      <DashboardPage width="document" up={["/conversation/chat", "Conversaciones"]}>
        <h1>Organizar conversaciones</h1>
        <SearchField q={q} label="Buscar por título" kept={archive ? [["archivadas", ""]] : []} />
        <p className="text-text-2">
          {total === 1 ? "Una conversación" : `${total.toLocaleString("es")} conversaciones`}
          {archive ? " en el archivo. " : ". "}
          <Link to={archive ? "/conversation/chat/organizar" : "?archivadas"}>
            {archive ? "Ver las demás" : "Ver las archivadas"}
          </Link>
        </p>
        {chats.length === 0 ? (
          <p className="text-text-2">{q ? `Ninguna se titula así: «${q}».` : "Aquí no hay ninguna."}</p>
        ) : (
          <Picks {...loaderData} message={answer?.message} />
        )}
        {next && <Link to={next}>Siguiente</Link>}
      </DashboardPage>
    </BehindDialog>
  );
}

type PicksProps = Pick<Route.ComponentProps["loaderData"], "chats" | "archive" | "projects"> & {
  message: string | undefined;
};

function Picks({ chats, archive, projects, message }: PicksProps) {
  return (
    <PostForm preventScrollReset>
      {message && (
        <p className="error mb-3" role="alert">
          <Icon name="alert" />
          <span>{message}</span>
        </p>
      )}
      <ul className="rows picks">
        {chats.map(({ id, title, when }) => (
          <li key={id}>
            <label>
              <input type="checkbox" name="chat" value={id} />
              <span className="clip">{title}</span> <span className="end">{when}</span>
            </label>
          </li>
        ))}
      </ul>
      <div className="buttons picks-do">
        <button type="submit" className="button" name="intent" value={archive ? "unarchive" : "archive"}>
          {archive ? "Desarchivar" : "Archivar"}
        </button>{" "}
        <button type="submit" className="button danger" name="intent" value="delete">
          Eliminar
        </button>{" "}
        {projects.length > 0 && <Move projects={projects} />}
      </div>
    </PostForm>
  );
}

function Move({ projects }: { projects: { id: string; name: string }[] }) {
  return (
    <span className="buttons">
      <label className="sr-only" htmlFor="projectId">
        Proyecto
      </label>
      <Select id="projectId" name="projectId" choices={projects} none="Ningún proyecto" />{" "}
      <button type="submit" className="button" name="intent" value="move">
        Mover
      </button>
    </span>
  );
}

function Sure({ ids, here }: { ids: string[]; here: string }) {
  return (
    <SureDialog
      title={ids.length === 1 ? "Eliminar una conversación" : `Eliminar ${ids.length} conversaciones`}
      warning="Se borrarán con todos sus mensajes. Lo que adjuntaste sigue en tus archivos. No se puede deshacer."
      name="chat"
      ids={ids}
      closeTo={here}
    />
  );
}
