import { data, redirect } from "react-router";
import { v7 as newId } from "uuid";
import { z } from "zod";
import { digitalSource } from "../../../process/text/digital-source.ts";
import { Callout } from "../../../ui/callout.tsx";
import { TextField } from "../../../ui/forms/field.tsx";
import { Fields } from "../../../ui/forms/fields.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { Leaf } from "../../../ui/leaf.tsx";
import { named } from "../../../ui/navigation/page-title.ts";
import { ago } from "../../../ui/times.ts";
import { accepted, read } from "../../../web/api-result.server.ts";
import { apiContext, lightContext, liveContext } from "../../../web/context.ts";
import { dashboardOf } from "../../../web/dashboard.server.ts";
import { type FormResult, sendFields } from "../../../web/forms/form.server.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import { firstChunk } from "../stream/chunks.server.ts";
import type { Route } from "./+types/artifact";
import { passageSources, passagesOf, showText } from "./artifact-text.server.ts";
import { ArtifactText, Downloads, TextPages } from "./artifact-text.tsx";
import { growingText } from "./growing-text.server.ts";
import { writerWords } from "./kind-words.ts";
import { isPage } from "./page/is-page.ts";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta: Route.MetaFunction = ({ loaderData, matches }) => named(matches, loaderData?.title ?? "Escrito");

const wholeNumber = (text: string | null) => (text !== null && /^\d{1,7}$/.test(text) ? Number(text) : undefined);

export async function loader({ context, params: { id }, request, url }: Route.LoaderArgs) {
  const api = context.get(apiContext);
  const version = wholeNumber(url.searchParams.get("version"));
  const query = version ? { version: String(version) } : {};
  const [artifact, { aiNotice }] = await Promise.all([
    read(api.api.artifact[":id"].$get({ param: { id }, query })),
    dashboardOf(context),
  ]);
  const { title, kind, language, chatId, mayChange, shown, fileId } = artifact;
  const about = {
    id,
    title,
    kind,
    language,
    chatId,
    mayChange,
    aiNotice,
    last: artifact.version,
    hasFile: fileId !== null,
  };
  if (!shown) {
    const marker = newId();
    context.set(liveContext, { marker, ...growingText(api, id, artifact, request.signal) });
    return { ...about, marker, shown: undefined };
  }
  const page = wholeNumber(url.searchParams.get("pagina")) ?? 1;
  const written = { ...artifact, version: shown.n, light: context.get(lightContext) };
  const asks = url.searchParams.has("cambio") && mayChange;
  const passage = wholeNumber(url.searchParams.get("pasaje"));
  return {
    ...about,
    marker: undefined,
    shown: {
      n: shown.n,
      by: writerWords(shown),
      byModel: !shown.writer.person,
      when: ago(shown.createdAt, Date.now()),
      reason: shown.reason,
      text: await showText(written, page),
      passages: asks ? await passagesOf(written, page) : undefined,
      passage,
    },
  };
}

const fields = z.object({
  pagina: z.coerce.number().default(1),
  pasaje: z.coerce.number().default(0),
  version: z.coerce.number().default(0),
  wish: z.string().default(""),
});

export const action = ({ context, params: { id } }: Route.ActionArgs) =>
  sendFields(context, fields, async ({ pagina, pasaje, version, wish }) => {
    const { api } = context.get(apiContext);
    const one = api.artifact[":id"];
    const missing: FormResult = { values: {}, errors: { wish: "Escribe qué quieres que cambie." } };
    if (!wish.trim()) return data(missing, 422);
    const artifact = await read(one.$get({ param: { id }, query: {} }));
    if (!artifact.mayChange) throw data(null, 404);
    const changed = "Ha cambiado desde que elegiste el pasaje, y ahora puede ser otro. Míralo y pídelo otra vez.";
    const other: FormResult = { values: { wish }, errors: { wish: changed } };
    if (artifact.version !== version) return data(other, 409);
    const passage = passageSources(artifact, pagina)[pasaje] ?? "";
    const chatId = artifact.chatId ?? (await read(api.chat.$post({ json: { title: artifact.title } }))).id;
    if (!artifact.chatId) await accepted(one.$patch({ param: { id }, json: { chatId } }));
    const content = `En el escrito «${artifact.title}», cambia este pasaje:\n\n${quoted(passage)}\n\n${wish.trim()}`;
    await firstChunk(api.intelligence.conversation.$post({ json: { chatId, content } }));
    return redirect(`/conversation/chat/${chatId}`, 303);
  });

// In characters: a message has room for the passage, and for the request about it.
const quotedAtMost = 20_000;

const quoted = (passage: string) =>
  passage
    .slice(0, quotedAtMost)
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n");

/** An artifact: a version of it, or the first one while a model writes it. */
export default function Artifact({ loaderData, actionData }: Route.ComponentProps) {
  const { id, title, chatId, last, marker, shown } = loaderData;
  const here = `/conversation/escrito/${id}`;
  return (
    <Leaf
      back={
        chatId
          ? [`/conversation/chat/${chatId}`, "Volver a la conversación"]
          : ["/conversation/escrito", "Volver a los escritos"]
      }
      title={title}
      look="artifact"
    >
      {marker !== undefined && (
        <>
          <p className="mt-3 text-text-2">Se está escribiendo: va apareciendo aquí.</p>
          {/* Safe: the server makes both the marker and the HTML in its place. */}
          <div className="mt-5" dangerouslySetInnerHTML={{ __html: marker }} />
        </>
      )}
      {shown && (
        <>
          <AboutVersion here={here} {...loaderData} shown={shown} />
          <Actions here={here} {...loaderData} shown={shown} />
          {actionData?.message && (
            <p className="error mt-4" role="alert">
              {actionData.message}
            </p>
          )}
          {shown.passages ? (
            <Passages here={here} shown={shown} passages={shown.passages} result={actionData ?? undefined} />
          ) : (
            <article
              className="mt-6"
              data-digital-source-type={shown.byModel ? digitalSource.generated : undefined}
              aria-label={title}
            >
              <ArtifactText text={shown.text} />
            </article>
          )}
          <TextPages
            to={(page) => `${here}?pagina=${page}${shown.n < last ? `&version=${shown.n}` : ""}`}
            {...shown.text}
          />
        </>
      )}
    </Leaf>
  );
}

type Shown = NonNullable<Route.ComponentProps["loaderData"]["shown"]>;
type ActionsProps = Pick<Route.ComponentProps["loaderData"], "kind" | "language" | "mayChange" | "last"> & {
  here: string;
  shown: Shown;
};

type AboutProps = Pick<Route.ComponentProps["loaderData"], "mayChange" | "last" | "aiNotice"> & {
  here: string;
  shown: Shown;
};

/** Author of the version that is shown, and a way to the last one. */
function AboutVersion({ here, mayChange, last, aiNotice, shown }: AboutProps) {
  return (
    <>
      <p className="mt-3 text-text-2 break-words">
        {`Versión ${shown.n}, ${shown.when}, de ${shown.by}${shown.reason && `: «${shown.reason}»`}. `}
        {last > 1 && <a href={`${here}/versiones`}>Ver las versiones</a>}
      </p>
      {shown.byModel && <p className="mt-2 text-text-2">{aiNotice}</p>}
      {shown.n < last && (
        <Callout type="info">
          <p>
            No es la última versión. <a href={here}>Ver la última</a>
            {mayChange && (
              <>
                {" "}
                o <a href={`${here}/editar?version=${shown.n}`}>volver a esta</a>
              </>
            )}
            .
          </p>
        </Callout>
      )}
    </>
  );
}

function Actions({ here, kind, language, mayChange, last, shown }: ActionsProps) {
  const isLast = shown.n === last;
  const version = isLast ? "" : `&version=${shown.n}`;
  const page = shown.text.page > 1 ? `&pagina=${shown.text.page}` : "";
  return (
    <>
      <p className="buttons mt-4">
        {mayChange && isLast && (
          <>
            <a className="button primary" href={`${here}/editar`}>
              Editar
            </a>{" "}
            {shown.passages ? (
              <a className="button" href={`${here}?${page.slice(1)}`}>
                Dejar de pedir cambios
              </a>
            ) : (
              <a className="button" href={`${here}?cambio=1${page}`}>
                Pedir un cambio
              </a>
            )}{" "}
          </>
        )}
        {isPage(language) && (
          <>
            <a className="button" href={`${here}/pagina?${version.slice(1)}`}>
              Ver como página
            </a>{" "}
          </>
        )}
        <a className="button" href={`${here}/imprimir?${version.slice(1)}`}>
          Imprimir
        </a>
        {mayChange && (
          <>
            {" "}
            <a className="button" href={`${here}/compartir`}>
              Compartir
            </a>{" "}
            <a className="button" href={`${here}/eliminar`}>
              Eliminar
            </a>
          </>
        )}
      </p>
      <Downloads at={`${here}/descargar`} kind={kind} version={isLast ? undefined : shown.n} />
    </>
  );
}

type PassagesProps = {
  here: string;
  shown: Shown;
  passages: NonNullable<Shown["passages"]>;
  result: { values: Record<string, string>; errors: Record<string, string> } | undefined;
};

/** The passages of a page, each with a link to the form that asks for a change of it. */
function Passages({ here, shown, passages, result }: PassagesProps) {
  const { page } = shown.text;
  return (
    <section className="mt-6" aria-label="Pasajes">
      {passages.map(({ n, begins, html }) => (
        <div className="passage" id={`pasaje-${n}`} key={n}>
          {/* Safe: made by our own Markdown, which has no HTML of others. */}
          <div className="prose" dir="auto" dangerouslySetInnerHTML={{ __html: html }} />
          {shown.passage === n ? (
            <PostForm className="fields" action={`${here}?cambio=1&pagina=${page}&pasaje=${n}#pasaje-${n}`}>
              <input type="hidden" name="pagina" value={page} />
              <input type="hidden" name="pasaje" value={n} />
              <input type="hidden" name="version" value={shown.n} />
              <Fields id="cambio" result={result}>
                <TextField
                  name="wish"
                  label="Qué quieres que cambie"
                  hint="Se lo dices al modelo en la conversación, con este pasaje."
                  rows={3}
                  maxLength={8_000}
                />
              </Fields>
              <div className="buttons">
                <button type="submit" className="button primary">
                  Pedirlo
                </button>
              </div>
            </PostForm>
          ) : (
            <p>
              <a className="action" href={`${here}?cambio=1&pagina=${page}&pasaje=${n}#pasaje-${n}`}>
                Pedir un cambio aquí<span className="sr-only">: «{begins}»</span>
              </a>
            </p>
          )}
        </div>
      ))}
    </section>
  );
}
