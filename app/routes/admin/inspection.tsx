import { data, redirect } from "react-router";
import { z } from "zod";
import type { Inspected } from "../../api/inspections/inspect.server.ts";
import { limits } from "../../process/limits.ts";
import { DashboardPage } from "../../ui/dashboard-page.tsx";
import { TextField } from "../../ui/forms/field.tsx";
import { Fields } from "../../ui/forms/fields.tsx";
import { PostForm } from "../../ui/forms/post-form.tsx";
import { sendForm } from "../../ui/forms/send-form.ts";
import { titled } from "../../ui/navigation/page-title.ts";
import { accepted, read } from "../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../web/context.ts";
import { sendFields } from "../../web/forms/form.server.ts";
import { safeReturn } from "../../web/safe-return.server.ts";
import type { Route } from "./+types/inspection";

export const meta = titled("Leer lo que es de otra persona");

const kinds: Record<Inspected["resource"], { named: string; at(id: string): string }> = {
  chat: { named: "la conversación", at: (id) => `/conversation/chat/${id}` },
  file: { named: "el archivo", at: (id) => `/user/file/${id}` },
  project: { named: "el proyecto", at: (id) => `/conversation/project/${id}` },
  backup: { named: "la copia", at: () => "/admin/sistema" },
};

const isKind = (name: string): name is Inspected["resource"] => Object.hasOwn(kinds, name);

function kindIn({ resource }: { resource: string }): Inspected["resource"] {
  if (!isKind(resource)) throw data(null, 404);
  return resource;
}

/** The address that the administrator was going to. For a backup it is the page that offers the download, which opens no page itself. */
function wayBack(url: URL, resource: Inspected["resource"], id: string): string {
  const asked = url.searchParams.get("volver");
  return asked && resource !== "backup" ? safeReturn(asked) : kinds[resource].at(id);
}

export async function loader({ context, params, url }: Route.LoaderArgs) {
  const { id } = params;
  const resource = kindIn(params);
  const param = { resource, id };
  const thing = await read(context.get(apiContext).api.inspection[":resource"][":id"].$get({ param }));
  const back = wayBack(url, resource, id);
  if (thing.openUntil && resource !== "backup") throw redirect(back);
  const { named } = kinds[resource];
  return { title: thing.title, named, owner: thing.ownerName, back };
}

const fields = z.object({ purpose: z.string().default(""), untold: z.string().default("") });

export const action = ({ context, params, url }: Route.ActionArgs) =>
  sendFields(context, fields, async (given) => {
    const { id } = params;
    const resource = kindIn(params);
    const json = { ...given, resource, id };
    await accepted(context.get(apiContext).api.inspection.$post({ json }));
    context.get(sessionContext).flash({ type: "success", title: "Apuntado. Se puede leer durante una hora." });
    return redirect(wayBack(url, resource, id), 303);
  });

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

/** Asks an administrator for the purpose of reading something, before the first look; the owner is told. */
export default function Inspection({ loaderData, actionData }: Route.ComponentProps) {
  const { title, named, owner, back } = loaderData;
  return (
    <DashboardPage width="column" up={["/admin", "Panel"]}>
      <h1>Leer lo que es de otra persona</h1>
      <p className="mt-4">
        Vas a abrir {named} <strong dir="auto">«{title}»</strong>
        {owner ? `, de ${owner}` : ", que trae lo de todas las personas"}. Di antes para qué: queda en la auditoría, y
        vale durante una hora.
      </p>
      <PostForm className="mt-6">
        <div className="fields">
          <Fields id="lectura" result={actionData ?? undefined}>
            <TextField
              name="purpose"
              label="Para qué"
              hint={owner ? `${owner} lo lee en un aviso y en su cuenta.` : undefined}
              rows={3}
              required
              maxLength={limits.inspectionPurpose}
            />
            {owner && (
              <TextField
                name="untold"
                label="Por qué no avisar (opcional)"
                hint={`Solo si hay una razón, como una orden judicial. ${owner} lo verá en su cuenta a los treinta días.`}
                rows={2}
                maxLength={limits.inspectionPurpose}
              />
            )}
          </Fields>
        </div>
        <p className="buttons mt-5">
          <button type="submit" className="button primary">
            Apuntarlo y leer
          </button>{" "}
          <a className="button quiet" href={back.startsWith("/admin") ? back : "/admin"}>
            No leer
          </a>
        </p>
      </PostForm>
    </DashboardPage>
  );
}
