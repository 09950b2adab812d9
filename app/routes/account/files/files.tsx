import { use } from "react";
import { data, Link, redirect, useOutlet } from "react-router";
import { DashboardPage } from "../../../ui/dashboard-page.tsx";
import { Meters } from "../../../ui/figures/meters.tsx";
import { SearchField } from "../../../ui/forms/search-field.tsx";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { UploadForm } from "../../../ui/forms/upload-form.tsx";
import { Icon } from "../../../ui/icon.tsx";
import { Light } from "../../../ui/light/light.ts";
import { titled } from "../../../ui/navigation/page-title.ts";
import { showSeen } from "../../../ui/navigation/pages-seen.ts";
import { BehindDialog } from "../../../ui/overlays/behind-dialog.tsx";
import { ago } from "../../../ui/times.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";
import { showFile } from "../../../web/file-display.server.ts";
import { keepDocuments } from "../../../web/forms/uploads.server.ts";
import { spaceUsed } from "../../../web/plan-use-in-words.server.ts";
import { searchIn } from "../../../web/search.server.ts";
import type { Route } from "./+types/files";

export const meta = titled("Tus archivos");

export async function loader({ context, url }: Route.LoaderArgs) {
  const { user, usage, subscription } = await requireUser(context);
  const q = searchIn(url);
  const cursor = url.searchParams.get("cursor");
  const query = {
    filter: JSON.stringify({ userId: user.id, temporary: false }),
    ...(q && { q }),
    ...(cursor && { cursor }),
  };
  const inactive = user.status !== "active";
  const { items, nextCursor, total } = inactive
    ? { items: [], nextCursor: null, total: 0 }
    : await read(context.get(apiContext).api.file.$get({ query }));
  const now = Date.now();
  return {
    q,
    total,
    inactive,
    next: nextCursor && `?${new URLSearchParams({ ...(q && { q }), cursor: nextCursor })}`,
    later: cursor !== null,
    files: items.map((file) => ({ ...showFile(file.id, file), id: file.id, when: ago(file.createdAt, now) })),
    space: spaceUsed(usage.storedBytes, subscription.storageMb),
  };
}

export async function action({ context }: Route.ActionArgs) {
  const refused = await keepDocuments(context, {});
  return refused ? data(refused, 422) : redirect("/user/file", 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);
export const clientLoader = (args: Route.ClientLoaderArgs) => showSeen(args);

export default function Files({ loaderData, actionData }: Route.ComponentProps) {
  const { q, total, inactive, files, next, later, space } = loaderData;
  const dialog = useOutlet();
  return (
    <BehindDialog dialog={dialog}>
      <DashboardPage width="sheet">
        <h1>Tus archivos</h1>
        {inactive ? (
          <p>
            Tu cuenta está inactiva. <Link to="/soporte">Escríbenos a soporte</Link> para ver tus archivos.
          </p>
        ) : (
          <>
            <section aria-labelledby="subir">
              <h2 id="subir">Subir</h2>
              {/* The key remounts the form after an upload, which clears the file input. */}
              <UploadForm key={files[0]?.id} result={actionData ?? undefined} />
            </section>
            <section aria-labelledby="guardados">
              <h2 id="guardados">{q ? "Encontrados" : "Guardados"}</h2>
              <div className="stack">
                <SearchField q={q} label="Buscar por nombre" />
                <Found q={q} total={total} />
                <ul className="rows">
                  {files.map((file) => (
                    <Row key={file.id} {...file} />
                  ))}
                </ul>
                <nav className="buttons" aria-label="Páginas">
                  {later && <Link to={q ? `?q=${encodeURIComponent(q)}` : "/user/file"}>Al principio</Link>}{" "}
                  {next && <Link to={next}>Siguiente</Link>}
                </nav>
              </div>
            </section>
            <section aria-labelledby="espacio">
              <h2 id="espacio">Espacio</h2>
              <Meters meters={[space]} />
            </section>
          </>
        )}
      </DashboardPage>
    </BehindDialog>
  );
}

function Found({ q, total }: { q: string; total: number }) {
  if (!q && total > 0) return null;
  return (
    <p className="text-text-2" role="status">
      {q
        ? `${total === 0 ? "Ningún archivo se llama así" : total === 1 ? "Un archivo" : `${total} archivos`}: «${q}». `
        : "Aún no hay ninguno. Lo que adjuntes a un mensaje o subas aquí aparecerá en esta lista."}
      {q && <Link to="/user/file">Quitar la búsqueda</Link>}
    </p>
  );
}

type ListedFile = { id: string; name: string; detail: string; image: boolean; when: string };

function Row({ id, name, detail, image, when }: ListedFile) {
  const light = use(Light);
  return (
    <li className="row">
      {image && !light ? (
        <img
          className="tiny"
          src={`/user/file/${id}/contenido?variant=preview`}
          alt=""
          width={40}
          height={40}
          loading="lazy"
        />
      ) : (
        <Icon name="document" />
      )}
      <div>
        <Link className="title clip" to={`/user/file/${id}`}>
          {name}
        </Link>
        <p className="line">
          {detail}, {when}
        </p>
      </div>{" "}
      <span className="end">
        <a className="button quiet small only" href={`/user/file/${id}/contenido`} download>
          <Icon name="download" label={`Descargar ${name}`} />
        </a>{" "}
        <Link className="button quiet small only" to={`/user/file/${id}/eliminar`} preventScrollReset>
          <Icon name="trash" label={`Eliminar ${name}`} />
        </Link>
      </span>
    </li>
  );
}
