import { data, Link, redirect, useOutlet } from "react-router";
import { ApiProblem, accepted, read } from "../../answers.server.ts";
import { apiContext, formContext, sessionContext } from "../../context.ts";
import { textOf } from "../../form.server.ts";
import { Bar } from "../../ui/bar.tsx";
import { Icon } from "../../ui/icon.tsx";
import { PostForm } from "../../ui/post-form.tsx";
import { sendForm } from "../../ui/send-form.ts";
import type { Route } from "./+types/list";
import { cellsOf } from "./cells.server.ts";
import { Filters } from "./filters.tsx";
import { headsOf, listOf, pagesOf, sizes, withParams } from "./query.server.ts";
import { resourceOf } from "./resource.server.ts";
import { SureDialog } from "./sure-dialog.tsx";
import { ResourceTable } from "./table.tsx";
import { zoneInWords } from "./zone.server.ts";

export const meta: Route.MetaFunction = ({ loaderData }) => [
  { title: `${loaderData?.many ?? "Administración"} · Tertulia` },
];

export async function loader({ context, params, url }: Route.LoaderArgs) {
  const { resource, api } = resourceOf(context, params.resource);
  const asked = listOf(url, resource);
  const answer = await read(api.$get({ query: asked.query })).catch(notUnderstood);
  if (!answer) {
    const title = "Esta lista no entiende ese filtro o esa página; aquí está entera.";
    context.get(sessionContext).flash({ type: "warning", title });
    throw redirect(url.pathname);
  }
  const { items, nextCursor, total, totalIsMinimum } = answer;
  const cells = await cellsOf(context, asked.columns, items);
  const first = (asked.page - 1) * Number(asked.size);
  return {
    path: resource.path,
    many: resource.many,
    readOnly: resource.fields.length === 0,
    discovers: resource.path === "model",
    searches: resource.searches,
    q: asked.q,
    filters: resource.filters.map(({ name, label, choices }) => ({
      name,
      label,
      choices,
      value: String(asked.filter[name] ?? ""),
    })),
    // What came by a link stays while something is searched for in it.
    kept: Object.entries(asked.filter).filter(([name]) => !resource.filters.some((filter) => filter.name === name)),
    choosable: resource.columns
      .slice(1)
      .map(({ name, label }) => ({ name, label, shown: asked.columns.some((column) => column.name === name) })),
    size: asked.size,
    sizes,
    heads: headsOf(url, asked.columns, asked.column, asked.direction),
    rows: items.map(({ id }, index) => ({ id, cells: cells[index] ?? [] })),
    verbs: (resource.verbs ?? []).map(({ name, label }) => ({ name, label })),
    count:
      items.length === 0
        ? "Ninguno"
        : `${(first + 1).toLocaleString("es")} a ${(first + items.length).toLocaleString("es")} de ${totalIsMinimum ? "más de " : ""}${total.toLocaleString("es")}`,
    zone: asked.columns.some(({ kind }) => kind === "moment") ? zoneInWords(context) : undefined,
    here: url.search,
    csv: `/admin/${resource.path}/descargar${withParams(url, {}).replace(/^[^?]*/, "")}`,
    ...pagesOf(url, asked, nextCursor),
    narrowed: asked.q !== "" || Object.keys(asked.filter).length > 0,
  };
}

/** A filter, order or page that this list does not know: the list as it is by itself. */
function notUnderstood(error: unknown): undefined {
  if (error instanceof ApiProblem && error.status === 422) return undefined;
  throw error;
}

export async function action({ context, params, url }: Route.ActionArgs) {
  const { resource, api, change } = resourceOf(context, params.resource);
  const form = context.get(formContext);
  const ids = [...new Set(form.getAll("item"))].filter((id) => typeof id === "string");
  const intent = textOf(form, "intent");
  if (intent === "discover" && resource.path === "model") {
    const { found } = await read(context.get(apiContext).api.model.discover.$post());
    const title = found === 0 ? "No hay modelos que no estuvieran ya." : `Modelos nuevos: ${found}.`;
    context.get(sessionContext).flash({ type: found === 0 ? "info" : "success", title });
    return redirect(url.pathname + url.search, 303);
  }
  const verb = resource.verbs?.find(({ name }) => name === intent);
  if (ids.length === 0) return data({ message: "Marca al menos uno." }, 422);
  if (intent === "delete" && textOf(form, "sure") !== "1") return { asks: ids };
  if (intent !== "delete" && !verb) return data({ message: "Elige qué hacer con ellos." }, 422);
  const refused: string[] = [];
  for (const id of ids) {
    try {
      const param = { id };
      await (verb ? accepted(change({ param, json: verb.json })) : accepted(api[":id"].$delete({ param })));
    } catch (error) {
      if (!(error instanceof ApiProblem) || error.status >= 500) throw error;
      // Gone meanwhile, or kept for a reason: the others go on.
      if (error.status !== 404) refused.push(error.body.detail);
    }
  }
  const done = ids.length - refused.length;
  const title = `${verb?.label ?? "Eliminar"}: ${done} de ${ids.length}.`;
  const description = [...new Set(refused)].join(" ");
  const notice = description
    ? { type: "warning" as const, title, description, duration: 0 }
    : { type: "success" as const, title };
  context.get(sessionContext).flash(notice);
  return redirect(url.pathname + url.search, 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function List({ loaderData, actionData }: Route.ComponentProps) {
  const { path, many, readOnly, discovers, count, zone, here, csv, previous, next, narrowed, rows } = loaderData;
  const answer = actionData as { message?: string; asks?: string[] } | undefined;
  const outlet = useOutlet();
  const covered = outlet !== null || answer?.asks !== undefined;
  return (
    <>
      {outlet}
      {answer?.asks && <SureDialog ids={answer.asks} here={`/admin/${path}${here}`} />}
      <div className="contents" inert={covered}>
        <Bar>
          <p className="where">
            <Link to="/admin">Administración</Link>
          </p>
        </Bar>
        <main className="page" id="contenido">
          <div className="in listing">
            <div className="head">
              <h1>{many}</h1>
              <div className="buttons">
                <a className="button" href={csv} download>
                  <Icon name="download" />
                  CSV
                </a>{" "}
                {discovers && (
                  <PostForm>
                    <button type="submit" className="button" name="intent" value="discover">
                      Buscar modelos
                    </button>
                  </PostForm>
                )}{" "}
                {!readOnly && (
                  <Link className="button primary" to={`/admin/${path}/crear${here}`} preventScrollReset>
                    <Icon name="plus" />
                    Crear
                  </Link>
                )}
              </div>
            </div>
            <Filters {...loaderData} />
            {rows.length === 0 ? (
              <p className="text-text-2">
                {narrowed ? "Nada cumple lo que pides. " : "Aún no hay ninguno."}
                {narrowed && <Link to={`/admin/${path}`}>Ver todos</Link>}
              </p>
            ) : readOnly ? (
              <ResourceTable {...loaderData} />
            ) : (
              <PostForm preventScrollReset>
                {answer?.message && (
                  <p className="error mb-3" role="alert">
                    <Icon name="alert" />
                    <span>{answer.message}</span>
                  </p>
                )}
                <ResourceTable {...loaderData} />
              </PostForm>
            )}
            <nav className="pages" aria-label="Páginas">
              <span>
                {count}
                {zone && ` · ${zone}`}
              </span>{" "}
              <span className="buttons">
                {previous && (
                  <Link className="button small" to={previous}>
                    Anterior
                  </Link>
                )}{" "}
                {next && (
                  <Link className="button small" to={next}>
                    Siguiente
                  </Link>
                )}
              </span>
            </nav>
          </div>
        </main>
      </div>
    </>
  );
}
