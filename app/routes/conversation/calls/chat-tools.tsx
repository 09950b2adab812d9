import { Link, replace } from "react-router";
import { limits } from "../../../process/limits.ts";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { titled } from "../../../ui/navigation/page-title.ts";
import { FormDialog } from "../../../ui/overlays/form-dialog.tsx";
import { accepted, read } from "../../../web/api-result.server.ts";
import { apiContext, type Context, formContext, sessionContext } from "../../../web/context.ts";
import { textOf } from "../../../web/forms/form.server.ts";
import type { Route } from "./+types/chat-tools";

export const meta = titled("Herramientas de la conversación");
export const handle = { dialog: true };

/** The tools that the person may use, and which of them are offered in this chat. */
export async function loader({ context, params }: Route.LoaderArgs) {
  const { api } = context.get(apiContext);
  const [chat, tools, accounts] = await Promise.all([
    read(api.chat[":id"].$get({ param: { id: params.id } })),
    ownTools(context),
    read(api["tool-account"].$get()),
  ]);
  const unconnected = new Set(accounts.items.flatMap(({ id, connectedAt }) => (connectedAt ? [] : [id])));
  return {
    tools: tools.map(({ id, name, detail }) => ({
      id,
      name,
      detail: unconnected.has(id) ? "Falta conectar tu cuenta." : detail,
      on: !chat.toolsOff.includes(id),
    })),
    unconnected: unconnected.size > 0,
  };
}

export async function action({ context, params }: Route.ActionArgs) {
  const form = context.get(formContext);
  const on = new Set(form.getAll("on"));
  const toolsOff = (await ownTools(context)).flatMap(({ id }) => (on.has(id) ? [] : [id]));
  const asksAgain = textOf(form, "asksAgain") ? { asksAgain: true as const } : {};
  const json = { toolsOff, ...asksAgain };
  await accepted(context.get(apiContext).api.chat[":id"].$patch({ param: { id: params.id }, json }));
  context.get(sessionContext).flash({ type: "success", title: "Guardado. Vale desde el próximo mensaje." });
  return replace(`/conversation/chat/${params.id}`, 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

async function ownTools(context: Context) {
  const query = { limit: String(limits.listMax), filter: JSON.stringify({ enabled: true }) };
  const { items } = await read(context.get(apiContext).api.tool.$get({ query }));
  return items.map(({ id, name, tools }) => ({
    id,
    name,
    detail: tools
      .filter(({ on }) => on)
      .map(({ title }) => title)
      .join(", "),
  }));
}

export default function ChatTools({ loaderData: { tools, unconnected }, params }: Route.ComponentProps) {
  return (
    <FormDialog title="Herramientas de la conversación" closeTo={`/conversation/chat/${params.id}`} preventScrollReset>
      {tools.length === 0 ? (
        <p>En esta instalación no hay ninguna herramienta que puedas usar.</p>
      ) : (
        <fieldset className="checks tools">
          <legend>Los modelos que sepan usarlas pueden llamar a estas:</legend>
          {tools.map(({ id, name, detail, on }) => (
            <label className="check" key={id}>
              <input type="checkbox" name="on" value={id} defaultChecked={on} />
              <span>
                {name}
                {detail && <small>{detail}</small>}
              </span>
            </label>
          ))}
        </fieldset>
      )}
      {unconnected && (
        <p>
          Tus cuentas se conectan en <Link to="/user/seguridad#cuentas">Seguridad</Link>.
        </p>
      )}
      <label className="check">
        <input type="checkbox" name="asksAgain" value="1" />
        Volver a preguntarme por lo que permití en esta conversación
      </label>
    </FormDialog>
  );
}
