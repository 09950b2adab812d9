import { Link, redirect } from "react-router";
import { accepted, read } from "../../answers.server.ts";
import { apiContext, formContext, sessionContext } from "../../context.ts";
import { textOf } from "../../form.server.ts";
import { Bar } from "../../ui/bar.tsx";
import { PostForm } from "../../ui/post-form.tsx";
import { sendForm } from "../../ui/send-form.ts";
import type { Route } from "./+types/item";
import { cellsOf } from "./cells.server.ts";
import { type Change, changesOf } from "./changes.server.ts";
import { resourceOf } from "./resource.server.ts";

export const meta: Route.MetaFunction = ({ loaderData }) => [{ title: `${loaderData?.name ?? ""} · Tertulia` }];

export async function loader({ context, params: { resource: path, id } }: Route.LoaderArgs) {
  const { resource, api } = resourceOf(context, path);
  const item = await read(api[":id"].$get({ param: { id } }));
  const [cells = []] = await cellsOf(context, resource.columns, [item]);
  const texts = [...resource.fields, ...resource.columns].filter(
    ({ name, kind }) => kind === "area" || kind === "markdown" || whole.has(name),
  );
  const long = texts.map(({ name, label }) => ({ label, text: String(item[name] ?? "") }));
  return {
    many: resource.many,
    readOnly: resource.fields.length === 0,
    tries: path === "model" && item.provider !== "local",
    name: cells[0]?.text || "Sin nombre",
    facts: resource.columns.slice(1).map(({ label }, index) => ({ label, ...cells[index + 1] })),
    long: long.filter(({ text }) => text),
    changes: path === "audit" ? changesOf(String(item.resource), String(item.changes)) : [],
    belongs: resource.belongs?.(id) ?? [],
    signsOut: path === "user",
  };
}

// What a list cuts short and has no field to be read in.
const whole = new Set(["message"]);

/** «Cerrar sus sesiones», of an account; «Probar», of a model. */
export async function action({ context, params: { resource: path, id } }: Route.ActionArgs) {
  if (path === "user" && textOf(context.get(formContext), "intent") === "signout") {
    await accepted(context.get(apiContext).api.user[":id"].sessions.$delete({ param: { id } }));
    context
      .get(sessionContext)
      .flash({ type: "success", title: "Sus sesiones están cerradas y sus claves ya no valen." });
  }
  if (path === "model" && textOf(context.get(formContext), "intent") === "test") {
    const tried = await read(context.get(apiContext).api.model[":id"].test.$post({ param: { id } }));
    const seconds = ((tried.firstTokenMs ?? 0) / 1000).toLocaleString("es", { maximumFractionDigits: 1 });
    const speed =
      tried.tokensPerSecond === null ? "" : ` ${tried.tokensPerSecond.toLocaleString("es")} tokens por segundo.`;
    context.get(sessionContext).flash({
      type: tried.ok ? "success" : "error",
      title: tried.ok ? `Responde: primera palabra en ${seconds} s.${speed}` : "No responde.",
      description: tried.answer.slice(0, 300).toWellFormed(),
      duration: 0,
    });
  }
  return redirect(`/admin/${path}/${id}`, 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function ItemPage({ loaderData, params: { resource: path, id } }: Route.ComponentProps) {
  const { many, readOnly, tries, name, facts, long, changes, belongs, signsOut } = loaderData;
  const here = `/admin/${path}/${id}`;
  return (
    <>
      <Bar>
        <p className="where">
          <Link to={`/admin/${path}`}>{many}</Link>
        </p>
        {!readOnly && (
          <>
            <Link className="button quiet small" to={`${here}/editar`}>
              Editar
            </Link>
            <Link className="button quiet small" to={`${here}/eliminar`}>
              Eliminar
            </Link>
          </>
        )}
      </Bar>
      <main className="page" id="contenido">
        <div className="in document">
          <h1>{name}</h1>
          <dl className="facts">
            {facts.map(({ label, text, to }) => (
              <div key={label}>
                <dt>{label}</dt>
                <dd>{to ? <Link to={to}>{text}</Link> : text || "—"}</dd>
              </div>
            ))}
            <div>
              <dt>Identificador</dt>
              <dd>
                <code>{id}</code>
              </dd>
            </div>
          </dl>
          {belongs.length > 0 && (
            <p className="buttons mt-5">
              {belongs.map(({ label, to }) => (
                <Link key={to} className="button small" to={to}>
                  {label}
                </Link>
              ))}
            </p>
          )}
          {signsOut && (
            <PostForm className="mt-5">
              <button type="submit" className="button small" name="intent" value="signout">
                Cerrar sus sesiones
              </button>
            </PostForm>
          )}
          {tries && (
            <PostForm className="mt-5">
              <button type="submit" className="button small" name="intent" value="test">
                Probar
              </button>
            </PostForm>
          )}
          {changes.length > 0 && <Changes changes={changes} />}
          {long.map(({ label, text }) => (
            <section key={label} className="given">
              <h2>{label}</h2>
              <pre tabIndex={-1}>{text}</pre>
            </section>
          ))}
        </div>
      </main>
    </>
  );
}

function Changes({ changes }: { changes: Change[] }) {
  return (
    <table className="table cards mt-5">
      <thead>
        <tr>
          <th scope="col">Campo</th>
          <th scope="col">Antes</th>
          <th scope="col">Después</th>
        </tr>
      </thead>
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
