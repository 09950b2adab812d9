import { data, Link, redirect, useOutlet } from "react-router";
import { DashboardPage } from "../../../ui/dashboard-page.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { useAnswer } from "../../../ui/forms/use-answer.ts";
import { Icon } from "../../../ui/icon.tsx";
import { named } from "../../../ui/navigation/page-title.ts";
import { BehindDialog } from "../../../ui/overlays/behind-dialog.tsx";
import { SureDialog } from "../../../ui/overlays/sure-dialog.tsx";
import { accepted, everyCall, read, refusalIn, whenStatus } from "../../../web/api-result.server.ts";
import { formContext, sessionContext } from "../../../web/context.ts";
import { textOf } from "../../../web/forms/form.server.ts";
import type { Tried } from "../models/try-model.server.ts";
import { zoneInWords } from "../zone.server.ts";
import type { Route } from "./+types/list";
import { cellsOf } from "./cells.server.ts";
import { Filters } from "./filters.tsx";
import { goesAlong } from "./goes-along.server.ts";
import { headsOf, listOf, pagesOf, sizes, withParams } from "./query.server.ts";
import { changeable, resourceOf } from "./resource.server.ts";
import { ResourceTable } from "./table.tsx";

export const meta: Route.MetaFunction = ({ loaderData, matches }) =>
  named(matches, loaderData?.many ?? "Administración");

export async function loader({ context, params, url }: Route.LoaderArgs) {
  const { resource, list } = resourceOf(context, params.resource);
  const asked = listOf(url, resource);
  const answer = await read(list({ query: asked.query })).catch(whenStatus(422, undefined));
  // The API does not know a filter, order or cursor of the address.
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
    one: resource.one,
    about: resource.about,
    readOnly: !resource.changes,
    feminine: resource.feminine === true,
    marked: url.searchParams.has("marcar"),
    markTo: withParams(url, { marcar: url.searchParams.has("marcar") ? "" : "1" }, true),
    discovers: resource.discovery?.label,
    searches: resource.searches,
    q: asked.q,
    filters: resource.filters.map(({ name, label, choices, all = "Todos" }) => ({
      name,
      label,
      choices,
      all,
      value: String(asked.filter[name] ?? ""),
    })),
    // Filters that came with a link and have no input, such as `userId`, are kept when the form is sent.
    kept: Object.entries(asked.filter).filter(([name]) => !resource.filters.some((filter) => filter.name === name)),
    choosable: resource.columns
      .slice(1)
      .map(({ name, label }) => ({ name, label, shown: asked.columns.some((column) => column.name === name) })),
    size: asked.size,
    sizes,
    heads: headsOf(url, asked.columns, asked.column, asked.direction),
    rows: items.map((item, index) => ({
      id: item.id,
      cells: cells[index] ?? [],
      tries: resource.trial?.fits(item) ?? false,
    })),
    verbs: (resource.verbs ?? []).map(({ name, label }) => ({ name, label })),
    count:
      items.length === 0
        ? resource.feminine
          ? "Ninguna"
          : "Ninguno"
        : `${(first + 1).toLocaleString("es")} a ${(first + items.length).toLocaleString("es")} de ${totalIsMinimum ? "más de " : ""}${total.toLocaleString("es")}`,
    zone: asked.columns.some(({ kind }) => kind === "moment") ? zoneInWords(context) : undefined,
    here: url.search,
    csv: `/admin/${resource.path}/descargar${paramsOf(url)}`,
    lines: resource.lines && `/admin/${resource.path}/lineas${paramsOf(url)}`,
    ...pagesOf(url, asked, nextCursor),
    narrowed: asked.q !== "" || Object.keys(asked.filter).length > 0,
  };
}

/** The filters and the order of the list, as they stand in its address. */
const paramsOf = (url: URL) => withParams(url, {}).replace(/^[^?]*/, "");

export async function action({ context, params, url }: Route.ActionArgs) {
  const { resource, change, remove } = changeable(context, params.resource);
  const form = context.get(formContext);
  const ids = [...new Set(form.getAll("item"))].filter((id) => typeof id === "string");
  const intent = textOf(form, "intent");
  if (intent === "discover" && resource.discovery) {
    context.get(sessionContext).flash(await resource.discovery.run(context));
    return redirect(url.pathname + url.search, 303);
  }
  const test = textOf(form, "test");
  if (test && resource.trial) return { tried: { id: test, ...(await resource.trial.run(context, test)) } };
  const verb = resource.verbs?.find(({ name }) => name === intent);
  if (ids.length === 0) return data({ message: `Marca al menos ${resource.feminine ? "una" : "uno"}.` }, 422);
  if (intent === "delete" && textOf(form, "sure") !== "1") {
    return { asks: ids, along: await goesAlong(context, resource, ids) };
  }
  if (intent !== "delete" && !verb) return data({ message: "Elige qué hacer con ellos." }, 422);
  const refused: string[] = [];
  for (const id of ids) {
    try {
      const param = { id };
      await (verb ? accepted(change({ param, json: verb.json })) : accepted(remove({ param })));
    } catch (error) {
      // The item is gone meanwhile, or was refused for a reason: the other items go on, unless none can be written now.
      const { status, detail } = refusalIn(error, everyCall);
      if (status !== 404) refused.push(detail);
    }
  }
  const done = ids.length - refused.length;
  const title = `${verb?.label ?? "Eliminar"}: ${done} de ${ids.length}.`;
  const description = [...new Set(refused)].join(" ");
  const saved = description
    ? { type: "warning" as const, title, description, duration: 0 }
    : { type: "success" as const, title };
  context.get(sessionContext).flash(saved);
  return redirect(url.pathname + url.search, 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

const namesShown = 5;

type Answered = { message?: string; asks?: string[]; along?: string; tried?: Tried & { id: string } };

export default function List({ loaderData, actionData }: Route.ComponentProps) {
  const { path, here, one, many, rows, narrowed } = loaderData;
  const own: Answered | undefined = actionData ?? undefined;
  const last = useAnswer(own, path);
  // A question or a refusal stays until the list is shown again; the answer of a model stays until the person leaves the list.
  const answer = own ?? (last?.tried && { tried: last.tried });
  const outlet = useOutlet();
  const asks = answer?.asks && (
    <SureDialog
      title={answer.asks.length === 1 ? `Eliminar ${one}` : `Eliminar ${answer.asks.length} ${many.toLowerCase()}`}
      warning={warningFor(rows, answer)}
      name="item"
      ids={answer.asks}
      closeTo={`/admin/${path}${here}`}
    />
  );
  return (
    <BehindDialog dialog={outlet ?? asks}>
      <DashboardPage width="listing" up={["/admin", "Panel"]}>
        <Head {...loaderData} />
        {rows.length > 0 || narrowed ? (
          <>
            <Filters {...loaderData} />
            <Rows list={loaderData} answer={answer} />
            <Pages {...loaderData} />
          </>
        ) : (
          <Empty {...loaderData} />
        )}
      </DashboardPage>
    </BehindDialog>
  );
}

/** Warning with the names of the items to be deleted, and with the things deleted with them. */
function warningFor(rows: Listed["rows"], { asks = [], along }: Answered): string {
  const names = rows.filter(({ id }) => asks.includes(id)).map(({ cells }) => `«${cells[0]?.text || "sin nombre"}»`);
  const shown = names.length > namesShown ? [...names.slice(0, namesShown), `${names.length - namesShown} más`] : names;
  const all = shown.length > 1 ? `${shown.slice(0, -1).join(", ")} y ${shown.at(-1)}` : (shown[0] ?? "");
  return `${names.length === 1 ? "Se borrará" : "Se borrarán"} ${all}${along ? `, y con ello ${along}` : ""}. No se puede deshacer.`;
}

type Listed = Route.ComponentProps["loaderData"];

function Head({ path, many, csv, lines, discovers, readOnly, here, rows }: Listed) {
  return (
    <div className="head">
      <h1>{many}</h1>
      <div className="buttons">
        {rows.length > 0 && (
          <a className="button" href={csv} download>
            <Icon name="download" />
            CSV
          </a>
        )}{" "}
        {rows.length > 0 && lines && (
          <a className="button" href={lines} download>
            <Icon name="download" />
            JSON Lines
          </a>
        )}{" "}
        {discovers && (
          <PostForm>
            <button type="submit" className="button" name="intent" value="discover">
              {discovers}
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
  );
}

/** An empty list: says the use of its items. «Crear» stands above. */
function Empty({ about, feminine }: Listed) {
  return (
    <div className="empty">
      <p>{`${about} Aún no hay ${feminine ? "ninguna" : "ninguno"}.`}</p>
    </div>
  );
}

function Rows({ list, answer }: { list: Listed; answer: Answered | undefined }) {
  const { path, feminine } = list;
  if (list.rows.length === 0) {
    return (
      <p className="text-text-2">
        Nada cumple lo que pides. <Link to={`/admin/${path}`}>{feminine ? "Ver todas" : "Ver todos"}</Link>
      </p>
    );
  }
  if (list.readOnly) return <ResourceTable {...list} />;
  return (
    <PostForm preventScrollReset>
      {answer?.message && (
        <p className="error mb-3" role="alert">
          <Icon name="alert" />
          <span>{answer.message}</span>
        </p>
      )}
      <ResourceTable {...list} tried={answer?.tried} />
    </PostForm>
  );
}

function Pages({ count, zone, previous, next }: Listed) {
  return (
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
  );
}
