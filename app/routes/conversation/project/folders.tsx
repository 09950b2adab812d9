import { redirect, useActionData } from "react-router";
import { z } from "zod";
import { Field } from "../../../ui/forms/field.tsx";
import { Fields } from "../../../ui/forms/fields.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { Leaf } from "../../../ui/leaf.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { ago } from "../../../ui/times.ts";
import { accepted, read, refusalIn } from "../../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import type { Route } from "./+types/folders";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta = titled("Carpetas conectadas");

export async function loader({ context, params: { id }, url }: Route.LoaderArgs) {
  const { api } = context.get(apiContext);
  const [{ user }, project, members, folders, accounts] = await Promise.all([
    requireUser(context),
    read(api.project[":id"].$get({ param: { id } })),
    read(api.project[":id"].members.$get({ param: { id } })),
    read(api.folder.$get({ query: { projectId: id } })),
    read(api["drive-account"].$get()),
  ]);
  const now = Date.now();
  const role = members.items.find(({ userId }) => userId === user.id)?.role;
  const drives = role === undefined || role === "reads" ? [] : accounts.items.filter(({ usable }) => usable);
  const chosen = drives.find((drive) => drive.id === url.searchParams.get("en"));
  const path = url.searchParams.get("ruta") ?? "";
  const query = { path };
  const inside =
    chosen?.username != null &&
    (await read(api["drive-account"][":id"].folders.$get({ param: { id: chosen.id }, query })).catch((error) => ({
      refusal: Object.values(refusalIn(error).errors ?? {})[0] ?? refusalIn(error).detail,
    })));
  return {
    project: project.name,
    folders: folders.items.map((folder) => ({
      ...folder,
      looked: folder.lookedAt ? `mirada ${ago(folder.lookedAt, now)}` : "se está mirando",
      author: members.items.find(({ userId }) => userId === folder.userId && userId !== user.id)?.name,
      mayRemove: [folder.userId, project.userId].includes(user.id) || user.role === "admin",
    })),
    drives: drives.map(({ id: driveId, name }) => ({ id: driveId, name })),
    chosen,
    path,
    inside: inside || undefined,
  };
}

const fields = z.object({
  does: z.enum(["connect", "add", "look", "remove"]),
  driveId: z.string().default(""),
  username: z.string().default(""),
  password: z.string().default(""),
  path: z.string().default(""),
  folderId: z.string().default(""),
});

export const action = ({ context, params: { id: projectId }, url }: Route.ActionArgs) =>
  sendFields(context, fields, async ({ does, driveId, username, password, path, folderId }) => {
    const { api } = context.get(apiContext);
    const here = `/conversation/project/${projectId}/carpetas`;
    const told = (title: string) => context.get(sessionContext).flash({ type: "success", title });
    if (does === "connect") {
      await accepted(api["drive-account"][":id"].$put({ param: { id: driveId }, json: { username, password } }));
      return redirect(`${here}${url.search}`, 303);
    }
    if (does === "add") await accepted(api.folder.$post({ json: { driveId, projectId, path } }));
    if (does === "look") await accepted(api.folder[":id"].look.$post({ param: { id: folderId } }));
    if (does === "remove") {
      await accepted(api.folder[":id"].$delete({ param: { id: folderId } }));
      told("Carpeta quitada.");
    }
    return redirect(here, 303);
  });

/** Folders of people's file servers whose documents belong to the project: the connected ones, and the form for one more. */
export default function Folders({ loaderData, params }: Route.ComponentProps) {
  const { project, folders, drives, chosen } = loaderData;
  return (
    <Leaf back={[`/conversation/project/${params.id}`, `Volver a «${project}»`]} title="Carpetas conectadas">
      <p className="mt-3 text-text-2">
        Los documentos de estas carpetas son documentos del proyecto. Se miran cada hora: lo nuevo se añade, lo cambiado
        se lee otra vez y lo borrado desaparece. Lo que está aquí lo ven todos los miembros.
      </p>
      <Connected folders={folders} />
      {drives.length > 0 && (
        <section aria-labelledby="otra" className="mt-8">
          <h2 id="otra">Añadir una carpeta</h2>
          <p className="mt-3">¿De qué servidor?</p>
          <ul className="rows mt-3">
            {drives.map(({ id, name }) => (
              <li key={id} className="row">
                <a href={`?en=${id}#otra`} aria-current={id === chosen?.id ? "true" : undefined}>
                  {name}
                </a>
              </li>
            ))}
          </ul>
          {chosen &&
            (chosen.username === null ? <Connection {...chosen} /> : <Browser {...loaderData} drive={chosen} />)}
        </section>
      )}
    </Leaf>
  );
}

type Data = Route.ComponentProps["loaderData"];

function Connected({ folders }: Pick<Data, "folders">) {
  if (folders.length === 0) return <p className="mt-6">Aún no hay ninguna.</p>;
  return (
    <ul className="rows mt-6">
      {folders.map(({ id, drive, path, documents, looked, author, problem, skipped, mayRemove }) => (
        <li key={id} className="row">
          <div>
            <p className="title break-words">
              {drive}: {path || "todo"}
            </p>
            <p className="line">
              {[documents === 1 ? "1 documento" : `${documents} documentos`, author && `de ${author}`, looked]
                .filter(Boolean)
                .join(" · ")}
            </p>
            {problem && <p className="line">{problem}</p>}
            {skipped.length > 0 && (
              <details className="more">
                <summary>{skipped.length === 1 ? "1 no se ha tomado" : `${skipped.length} no se han tomado`}</summary>
                <ul>
                  {skipped.map((one) => (
                    <li key={one.path} className="break-words">
                      «{one.path}» {one.reason}
                    </li>
                  ))}
                </ul>
              </details>
            )}
            <PostForm className="buttons mt-3">
              <input type="hidden" name="folderId" value={id} />
              <button type="submit" className="button small" name="does" value="look">
                Mirar ahora<span className="sr-only"> «{path}»</span>
              </button>{" "}
              {mayRemove && (
                <button type="submit" className="button small" name="does" value="remove">
                  Quitar<span className="sr-only"> «{path}»</span>
                </button>
              )}
            </PostForm>
          </div>
        </li>
      ))}
    </ul>
  );
}

function Connection({ id, name }: { id: string; name: string }) {
  const result = useActionData<typeof action>();
  return (
    <PostForm className="fields mt-6">
      <Fields id="cuenta" result={result ?? undefined}>
        <p>
          Crea en «{name}» una contraseña de aplicación (en Nextcloud: Ajustes, Seguridad) y escríbela aquí. Se guarda
          cifrada, solo se usa para leer, y la retiras allí o aquí cuando quieras.
        </p>
        <input type="hidden" name="driveId" value={id} />
        <Field name="username" label="Usuario" required maxLength={255} autoComplete="off" />
        <Field
          name="password"
          type="password"
          label="Contraseña de aplicación"
          required
          maxLength={500}
          autoComplete="off"
        />
      </Fields>
      <div className="buttons">
        <button type="submit" className="button primary" name="does" value="connect">
          Conectar
        </button>
      </div>
    </PostForm>
  );
}

function Browser({ drive, path, inside }: Data & { drive: { id: string; username: string | null } }) {
  const result = useActionData<typeof action>();
  const steps = path.split("/").filter(Boolean);
  const at = (to: string) => `?${new URLSearchParams({ en: drive.id, ...(to && { ruta: to }) })}#otra`;
  return (
    <div className="mt-6">
      <p>
        <a href={at("")}>Cuenta de {drive.username}</a>
        {steps.map((step, index) => (
          <span key={steps.slice(0, index + 1).join("/")}>
            {" / "}
            <a href={at(steps.slice(0, index + 1).join("/"))}>{step}</a>
          </span>
        ))}
      </p>
      {inside && "refusal" in inside ? (
        <>
          <p className="mt-3">{inside.refusal}</p>
          <Connection id={drive.id} name="el servidor" />
        </>
      ) : (
        <>
          <ul className="rows mt-3">
            {inside?.items.map((folder) => (
              <li key={folder.path} className="row">
                <a href={at(folder.path)}>{folder.name}</a>
              </li>
            ))}
          </ul>
          <PostForm className="fields mt-6">
            <Fields id="carpeta" result={result ?? undefined}>
              <input type="hidden" name="driveId" value={drive.id} />
              <input type="hidden" name="path" value={path} />
            </Fields>
            <p className="text-text-2">
              {inside?.files === 1 ? "Hay 1 archivo" : `Hay ${inside?.files ?? 0} archivos`} en ella, además de lo que
              haya en las de dentro.
            </p>
            <div className="buttons">
              <button type="submit" className="button primary" name="does" value="add">
                {path ? `Añadir «${steps.at(-1)}» al proyecto` : "Añadir toda la cuenta al proyecto"}
              </button>
            </div>
          </PostForm>
        </>
      )}
    </div>
  );
}
