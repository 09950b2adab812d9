import { Link, redirect, useNavigation } from "react-router";
import { DashboardPage } from "../../../ui/dashboard-page.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { useAnswer } from "../../../ui/forms/use-answer.ts";
import { named } from "../../../ui/navigation/page-title.ts";
import { TableHead } from "../../../ui/table-head.tsx";
import { read } from "../../../web/api-result.server.ts";
import { formContext } from "../../../web/context.ts";
import { textOf } from "../../../web/forms/form.server.ts";
import { changesOf, type FieldChange, type Recorded } from "../form/changes.server.ts";
import type { Tried as Answered } from "../models/try-model.server.ts";
import type { Route } from "./+types/item";
import { CellText } from "./cell.tsx";
import { cellsOf } from "./cells.server.ts";
import { ItemPart } from "./part.tsx";
import { resourceOf } from "./resource.server.ts";
import { Tried } from "./table.tsx";

export const meta: Route.MetaFunction = ({ loaderData, matches }) =>
  named(matches, loaderData?.name ?? "Administración");

export async function loader({ context, params: { resource: path, id }, url }: Route.LoaderArgs) {
  const { resource, read: readItem } = resourceOf(context, path);
  const item = await read(readItem({ param: { id } }));
  const [cells = []] = await cellsOf(context, resource.columns, [item]);
  // A short text stands among the facts already.
  const told = new Set(
    resource.columns.slice(1).flatMap(({ name }, n) => (cells[n + 1]?.text === item[name] ? name : [])),
  );
  const texts = [
    ...resource.fields.filter(({ kind, name }) => (kind === "area" || kind === "markdown") && !told.has(name)),
    ...resource.columns.filter(({ name }) => resource.whole?.includes(name)),
  ];
  const long = texts.map(({ name, label }) => ({ label, text: String(item[name] ?? "") }));
  const tellsChanges = resource.columns.some(({ kind }) => kind === "changes");
  return {
    many: resource.many,
    readOnly: !resource.changes,
    tries: resource.trial?.fits(item) ?? false,
    name: cells[0]?.text || "Sin nombre",
    facts: resource.columns.slice(1).map(({ label }, index) => ({ label, ...cells[index + 1] })),
    long: long.filter(({ text }) => text),
    changes: tellsChanges ? changesOf(String(item.resource), item.changes as Recorded) : [],
    belongs: resource.belongs?.(id) ?? [],
    parts: await resource.parts?.(context, item, url),
  };
}

export async function action({ context, params: { resource: path, id }, url }: Route.ActionArgs) {
  const { resource } = resourceOf(context, path);
  if (resource.trial && textOf(context.get(formContext), "test")) return resource.trial.run(context, id);
  return (await resource.acts?.(context, id, url)) ?? redirect(`/admin/${path}/${id}`, 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function ItemPage({ loaderData, actionData, params: { resource: path, id } }: Route.ComponentProps) {
  // Only the answer of a trial is kept: other forms of the page are done with once they are answered.
  const answer = useAnswer<unknown>(loaderData.tries ? actionData : undefined, id);
  const { many, readOnly, tries, name, facts, long, changes, belongs, parts } = loaderData;
  return (
    <DashboardPage
      width="document"
      up={[`/admin/${path}`, many]}
      actions={
        !readOnly && (
          <>
            <Link className="button quiet small" to={`/admin/${path}/${id}/editar`}>
              Editar
            </Link>
            <Link className="button quiet small" to={`/admin/${path}/${id}/eliminar`}>
              Eliminar
            </Link>
          </>
        )
      }
    >
      <h1>{name}</h1>
      <Facts facts={facts} id={id} />
      {parts?.above && <ItemPart part={parts.above} result={actionData} />}
      {belongs.length > 0 && (
        <p className="buttons mt-5">
          {belongs.map(({ label, to }) => (
            <Link key={to} className="button small" to={to}>
              {label}
            </Link>
          ))}
        </p>
      )}
      {tries && <Try id={id} tried={answer as Answered | undefined} />}
      {changes.length > 0 && <Changes changes={changes} />}
      {long.map(({ label, text }) => (
        <section key={label} className="given">
          <h2>{label}</h2>
          <pre tabIndex={-1}>{text}</pre>
        </section>
      ))}
      {parts?.below && <ItemPart part={parts.below} result={actionData} />}
    </DashboardPage>
  );
}

function Facts({ facts, id }: { facts: Route.ComponentProps["loaderData"]["facts"]; id: string }) {
  return (
    <dl className="facts">
      {facts.map(({ label, ...cell }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>
            <CellText {...cell} />
          </dd>
        </div>
      ))}
      <div>
        <dt>Id</dt>
        <dd>
          <code>{id}</code>
        </dd>
      </div>
    </dl>
  );
}

function Try({ id, tried }: { id: string; tried: Answered | undefined }) {
  const trying = useNavigation().formData?.has("test");
  return (
    <PostForm className="mt-5">
      <button type="submit" className="button small" name="test" value={id}>
        {trying ? "Probando…" : "Probar"}
      </button>
      {tried && <Tried {...tried} />}
    </PostForm>
  );
}

function Changes({ changes }: { changes: FieldChange[] }) {
  return (
    <table className="table cards mt-5">
      <TableHead texts={["Campo", "Antes", "Después"]} />
      <tbody>
        {changes.map(({ label, before, after }) => (
          <tr key={label}>
            <th scope="row">{label}</th>
            <td data-label="Antes">{before || "—"}</td>
            <td data-label="Después">{after || "—"}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
