import { use } from "react";
import { Link, redirect } from "react-router";
import { limits } from "../../../process/limits.ts";
import { dayInWords } from "../../../process/time-zones.server.ts";
import { Callout } from "../../../ui/callout.tsx";
import { DashboardPage } from "../../../ui/dashboard-page.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { Icon } from "../../../ui/icon.tsx";
import { Light } from "../../../ui/light/light.ts";
import { named } from "../../../ui/navigation/page-title.ts";
import { showSeen } from "../../../ui/navigation/pages-seen.ts";
import { Menu, MenuLink } from "../../../ui/overlays/menu.tsx";
import { accepted, read } from "../../../web/api-result.server.ts";
import { apiContext, formContext, keepContext, sessionContext } from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";
import { showFile } from "../../../web/file-display.server.ts";
import { saveDraft } from "../../../web/forms/drafts.server.ts";
import { textOf } from "../../../web/forms/form.server.ts";
import { zoneOfPerson } from "../../../web/house.server.ts";
import type { Route } from "./+types/file";

export const meta: Route.MetaFunction = ({ loaderData, matches }) => named(matches, loaderData?.file.name ?? "Archivo");

// Passages shown before the one that was found, as its context.
const shownBefore = 3;

export async function loader({ context, params, url, request }: Route.LoaderArgs) {
  const { api } = context.get(apiContext);
  const param = { id: params.id };
  const found = wholeNumber(url.searchParams.get("pasaje"));
  const from =
    found === undefined ? (wholeNumber(url.searchParams.get("desde")) ?? 0) : Math.max(0, found - shownBefore);
  const [{ user }, file] = await Promise.all([requireUser(context), read(api.file[":id"].$get({ param }))]);
  const { items, total } = await read(api.file[":id"].passages.$get({ param, query: { from } }));
  if (items.length === 0 && total > 0) throw redirect(url.pathname);
  if (file.userId === user.id && file.projectId !== null) context.set(keepContext, user.id);
  const last = items.at(-1)?.position ?? 0;
  const takenOn = dayInWords(file.createdAt, await zoneOfPerson(context, request));
  return {
    file: { ...showFile(file.id, file), id: file.id, address: file.address, takenOn },
    own: file.userId === user.id || user.role === "admin",
    progress: file.state === "reading" ? await progressOf(context, file.id) : undefined,
    passages: items,
    found,
    earlier: from > 0 ? Math.max(0, from - items.length) : undefined,
    later: last + 1 < total ? last + 1 : undefined,
  };
}

/** How far the reading of a file has come; a scanned one takes some seconds a page. */
async function progressOf(context: Route.LoaderArgs["context"], id: string) {
  const query = { filter: JSON.stringify({ subjectId: id, kind: "file" }) };
  const { items } = await read(context.get(apiContext).api.job.$get({ query }));
  const { done = null, total = null } = items[0] ?? {};
  return done !== null && total !== null && total > 1 ? { done, total } : undefined;
}

const wholeNumber = (text: string | null) => (text !== null && /^\d{1,7}$/.test(text) ? Number(text) : undefined);

/** Has the file read again, or attaches it to the draft of a new conversation. */
export async function action({ context, params }: Route.ActionArgs) {
  if (textOf(context.get(formContext), "intent") === "read") {
    await accepted(context.get(apiContext).api.file[":id"].reading.$post({ param: { id: params.id } }));
    return redirect(`/user/file/${params.id}`, 303);
  }
  const { user } = await requireUser(context);
  const { id } = await read(context.get(apiContext).api.file[":id"].$get({ param: { id: params.id } }));
  const draft = user.draft ?? { content: "", modelId: null, fileIds: [] };
  const others = draft.fileIds.filter((other) => other !== id);
  if (others.length < limits.filesPerMessage) {
    await saveDraft(context, {}, { ...draft, fileIds: [...others, id] });
  } else {
    const title = `Ya hay ${limits.filesPerMessage} archivos esperando: envíalos o quita alguno.`;
    context.get(sessionContext).flash({ type: "warning", title });
  }
  return redirect("/conversation/chat", 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);
export const clientLoader = (args: Route.ClientLoaderArgs) => showSeen(args);

export default function FilePage({ loaderData }: Route.ComponentProps) {
  const { file } = loaderData;
  const content = contentOf(file);
  return (
    <DashboardPage
      width="document"
      up={["/user/file", "Tus archivos"]}
      actions={
        <>
          <PostForm>
            <button type="submit" className="button quiet small">
              Usar<span className="wide-words"> en una conversación</span>
            </button>
          </PostForm>
          <Menu id="opciones" label="Más opciones">
            <li>
              <a href={content} download>
                <Icon name="download" />
                Descargar
              </a>
            </li>
            <MenuLink icon="trash" className="danger" to={`/user/file/${file.id}/eliminar`}>
              Eliminar
            </MenuLink>
          </Menu>
        </>
      }
    >
      <h1>{file.name}</h1>
      <p className="text-text-2">{file.detail}</p>
      {file.address && (
        <p className="text-text-2">
          Se tomó el {file.takenOn} de{" "}
          <a href={file.address} rel="noreferrer">
            {file.address}
          </a>
        </p>
      )}
      {loaderData.file.image ? <ImageFile {...loaderData} /> : <DocumentFile {...loaderData} />}
    </DashboardPage>
  );
}

type Shown = Route.ComponentProps["loaderData"];

const contentOf = ({ id }: { id: string }) => `/user/file/${id}/contenido`;

function ImageFile({ file, passages, found }: Shown) {
  const content = contentOf(file);
  const light = use(Light);
  return (
    <>
      {light ? (
        <p className="mt-4">
          <a href={`${content}?variant=image`}>Ver la imagen</a>
        </p>
      ) : (
        <img
          className="whole"
          src={`${content}?variant=image`}
          alt={file.name}
          width={file.width ?? 1}
          height={file.height ?? 1}
        />
      )}
      {passages.length > 0 && <h2 className="mt-4">El texto que hay en ella</h2>}
      <Passages passages={passages} found={found} />
    </>
  );
}

function DocumentFile({ file, own, progress, passages, found, earlier, later }: Shown) {
  return (
    <>
      {file.reading && (
        <>
          <p role="status">
            Se está leyendo{progress && `: va por ${progress.done} de ${progress.total}`}. Podrás usarlo cuando acabe.{" "}
            <Link to=".">Ver si ya está</Link>
          </p>
          {progress && (
            <progress className="advance mt-4" value={progress.done} max={progress.total} aria-label="Lectura" />
          )}
        </>
      )}
      {file.problem !== null && (
        <Callout type="error">
          <p>No se ha podido leer: {file.problem}</p>
        </Callout>
      )}
      {passages.length === 0 && file.unread && (
        <p>En este documento no se ha encontrado texto, ni escrito ni en sus imágenes. Un modelo no verá lo que hay.</p>
      )}
      {own && (file.problem !== null || (passages.length === 0 && file.unread)) && <ReadAgain />}
      {file.cut && (
        <p>
          Es más largo de lo que se puede leer: solo se busca en su comienzo, y un modelo no verá lo demás. Si lo partes
          en varios, se leerán enteros.
        </p>
      )}
      {earlier !== undefined && <Link to={`?desde=${earlier}`}>Ver lo anterior</Link>}
      <Passages passages={passages} found={found} />
      {later !== undefined && <Link to={`?desde=${later}`}>Seguir leyendo</Link>}
    </>
  );
}

function ReadAgain() {
  return (
    <PostForm preventScrollReset>
      <button type="submit" className="button" name="intent" value="read">
        Leerlo otra vez
      </button>
    </PostForm>
  );
}

type ShownPassage = { position: number; page: number | null; text: string };

function Passages({ passages, found }: { passages: ShownPassage[]; found: number | undefined }) {
  return passages.map(({ position, page, text }, index) => (
    <section key={position} className="passage" id={`pasaje-${position}`} data-found={position === found || undefined}>
      {page !== null && page !== passages[index - 1]?.page && <h2>Página {page}</h2>}
      <p>{text}</p>
    </section>
  ));
}
