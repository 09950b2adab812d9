import { Link, redirect, useNavigation } from "react-router";
import { DashboardPage } from "../../../ui/dashboard-page.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { TableHead } from "../../../ui/table-head.tsx";
import { accepted, read } from "../../../web/api-result.server.ts";
import { apiContext, formContext, sessionContext } from "../../../web/context.ts";
import { textOf } from "../../../web/forms/form.server.ts";
import { accountOf } from "../account.server.ts";
import { Account } from "../account.tsx";
import { changesOf, type FieldChange, type Recorded } from "../form/changes.server.ts";
import { modelsToTry, type TriedAgain, tryAgain } from "../opinions/try-again.server.ts";
import { TryAgain } from "../opinions/try-again.tsx";
import { dueNow } from "../retention/due.server.ts";
import { Due } from "../retention/due.tsx";
import { actOnTool, type ToolResult, toolServerOf } from "../tools/tool-server.server.ts";
import { ToolServer } from "../tools/tool-server.tsx";
import type { Route } from "./+types/item";
import { CellText } from "./cell.tsx";
import { cellsOf } from "./cells.server.ts";
import { resourceOf } from "./resource.server.ts";
import { Tried } from "./table.tsx";
import { type Tried as Answered, mayBeTried, tryModel } from "./try-model.server.ts";

export const meta: Route.MetaFunction = ({ loaderData }) => [
  { title: loaderData ? `${loaderData.name} · Tertulia` : "Tertulia" },
];

export async function loader({ context, params: { resource: path, id }, url }: Route.LoaderArgs) {
  const { resource, read: readItem } = resourceOf(context, path);
  const item = await read(readItem({ param: { id } }));
  const [cells = []] = await cellsOf(context, resource.columns, [item]);
  const texts = [...resource.fields, ...resource.columns].filter(
    ({ name, kind }) => kind === "area" || kind === "markdown" || whole.has(name),
  );
  const long = texts.map(({ name, label }) => ({ label, text: String(item[name] ?? "") }));
  return {
    many: resource.many,
    readOnly: !resource.writes,
    tries: mayBeTried(path, item),
    name: cells[0]?.text || "Sin nombre",
    facts: resource.columns.slice(1).map(({ label }, index) => ({ label, ...cells[index + 1] })),
    long: long.filter(({ text }) => text),
    changes: path === "audit" ? changesOf(String(item.resource), item.changes as Recorded) : [],
    belongs: resource.belongs?.(id) ?? [],
    signsOut: path === "user",
    again: path === "opinion" ? { models: await modelsToTry(context), reply: String(item.reply) } : undefined,
    due: path === "retention" ? await dueNow(context, id, String(item.kind)) : undefined,
    server: path === "tool" ? toolServerOf(item) : undefined,
    link: path === "invitation" && !item.usedAt ? await linkOf(context, id, url) : undefined,
    account: path === "user" ? await accountOf(context, id) : undefined,
  };
}

/** Where an invitation is accepted. */
async function linkOf(context: Route.LoaderArgs["context"], id: string, url: URL): Promise<string> {
  return url.origin + (await read(context.get(apiContext).api.invitation[":id"].link.$get({ param: { id } }))).path;
}

// Columns that are cut in lists and are no form fields either, so the item page shows their whole text.
const whole = new Set(["message", "question", "reply", "reason"]);

/** «Cerrar sus sesiones», of an account; «Probar», of a model; what is done with a server of tools. */
export async function action({ context, params: { resource: path, id }, url }: Route.ActionArgs) {
  if (path === "user" && textOf(context.get(formContext), "intent") === "signout") {
    await accepted(context.get(apiContext).api.user[":id"].sessions.$delete({ param: { id } }));
    context
      .get(sessionContext)
      .flash({ type: "success", title: "Sus sesiones están cerradas y sus claves ya no valen." });
  }
  if (path === "model" && textOf(context.get(formContext), "test")) {
    return tryModel(context, id);
  }
  if (path === "tool") return actOnTool(context, id, url);
  if (path === "opinion") return tryAgain(context, id);
  return redirect(`/admin/${path}/${id}`, 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function ItemPage({ loaderData, actionData, params: { resource: path, id } }: Route.ComponentProps) {
  const { many, readOnly, tries, name, facts, long, changes, belongs, signsOut, account, link, server, again, due } =
    loaderData;
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
      {link && (
        <p className="given">
          Su enlace, para dárselo a quien invitas: <code>{link}</code>
        </p>
      )}
      {account && <Account {...account} />}
      {server && <ToolServer {...server} result={actionData as ToolResult | undefined} />}
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
      {tries && <Try id={id} tried={actionData as Answered | undefined} />}
      {changes.length > 0 && <Changes changes={changes} />}
      {long.map(({ label, text }) => (
        <section key={label} className="given">
          <h2>{label}</h2>
          <pre tabIndex={-1}>{text}</pre>
        </section>
      ))}
      {due && <Due {...due} />}
      {again && <TryAgain {...again} result={actionData as TriedAgain | undefined} />}
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
        <dt>Identificador</dt>
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
