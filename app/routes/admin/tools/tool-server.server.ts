import { redirect } from "react-router";
import { cutText } from "../../../process/text/cut-text.ts";
import { accepted, read, tellRefusal } from "../../../web/api-result.server.ts";
import { apiContext, type Context, formContext, sessionContext } from "../../../web/context.ts";
import { textOf } from "../../../web/forms/form.server.ts";

type Listed = { name: string; title: string; description: string; readOnly: boolean; on: boolean; ask: boolean };

/** Address at which an administrator signs in at a server of tools. */
export type SignInAnswer = { signInAt: string } | null;

/** How each tool of a server is used, as one choice. */
const uses = new Set(["ask", "free", "off"]);

/** Data about the server of a tool, for the tool's page; undefined without a server. */
export function toolServerOf(item: Record<string, unknown>) {
  if (item.kind !== "mcp") return undefined;
  const tools = item.tools as Listed[];
  return {
    asked: typeof item.listedAt === "string",
    problem: item.problem as string | null,
    signedIn: item.signedIn === true,
    maySignIn: item.address !== null && item.hasSecret !== true && item.personal !== true,
    account: item.personal === true ? String(item.id) : undefined,
    tools: tools.map(({ name, title, description, readOnly, on, ask }) => ({
      name,
      title,
      description: description.length > 200 ? `${cutText(description, 200)}…` : description,
      kind: readOnly ? "Solo lee" : "Puede cambiar cosas",
      use: on ? (ask ? "ask" : "free") : "off",
    })),
  };
}

/** «Preguntar otra vez», «Iniciar sesión allí» and the choice of the server's tools. */
export async function actOnTool(context: Context, id: string, url: URL) {
  const { api } = context.get(apiContext);
  const form = context.get(formContext);
  const session = context.get(sessionContext);
  const param = { id };
  try {
    const intent = textOf(form, "intent");
    if (intent === "list") {
      const { tools } = await read(api.tool[":id"].list.$post({ param }));
      session.flash({
        type: "success",
        title: tools.length === 1 ? "Ofrece una herramienta." : `Ofrece ${tools.length} herramientas.`,
      });
    } else if (intent === "sign-in") {
      const json = { redirect: `${url.origin}/admin/tool/${id}/vuelta` };
      const begun = await read(api.tool[":id"]["sign-in"].$post({ param, json }));
      if (begun.url) return { signInAt: begun.url };
      session.flash({ type: "success", title: "Ese servidor no pide iniciar sesión, o ya está iniciada." });
    } else {
      await choose(context, id, form);
      session.flash({ type: "success", title: "Guardado." });
    }
  } catch (error) {
    tellRefusal(context)(error);
  }
  return redirect(`/admin/tool/${id}`, 303);
}

async function choose(context: Context, id: string, form: FormData): Promise<void> {
  const { api } = context.get(apiContext);
  const param = { id };
  const tool = await read(api.tool[":id"].$get({ param }));
  const { name, kind, address, model, clientId, personal, allowed, enabled, seconds, kilobytes, position, groupIds } =
    tool;
  const choices = Object.fromEntries(
    tool.tools.map((listed) => {
      const use = textOf(form, `uso.${listed.name}`);
      if (!uses.has(use)) return [listed.name, { on: listed.on, ask: listed.ask }];
      return [listed.name, { on: use !== "off", ask: use === "off" ? listed.ask : use === "ask" }];
    }),
  );
  // A null secret leaves the stored one unchanged.
  const json = {
    name,
    kind,
    address,
    secret: null,
    model,
    clientId,
    clientSecret: null,
    personal,
    allowed,
    enabled,
    seconds,
    kilobytes,
    position,
    groupIds,
    choices,
  };
  await accepted(api.tool[":id"].$put({ param, json }));
}
