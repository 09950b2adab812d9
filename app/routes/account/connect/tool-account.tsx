import { data, redirect } from "react-router";
import { z } from "zod";
import { Callout } from "../../../ui/callout.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { Wordmark } from "../../../ui/wordmark.tsx";
import { read } from "../../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../../web/context.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import type { Route } from "./+types/tool-account";
import { LeadingOut } from "./leading-out.tsx";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta = titled("Conectar tu cuenta");

export async function loader({ context, params: { id } }: Route.LoaderArgs) {
  const { items } = await read(context.get(apiContext).api["tool-account"].$get());
  const found = items.find((one) => one.id === id && one.usable);
  if (!found) throw data(null, 404);
  return { name: found.name };
}

export const action = ({ context, params: { id }, url }: Route.ActionArgs) =>
  sendFields(context, z.object({}), async () => {
    const json = { redirect: `${url.origin}/user/cuentas/${id}/vuelta` };
    const begun = await read(context.get(apiContext).api["tool-account"][":id"].$post({ param: { id }, json }));
    if (begun.url) return { leadsTo: begun.url, host: URL.parse(begun.url)?.host ?? "" };
    context.get(sessionContext).flash({ type: "success", title: "Ese servidor no pide iniciar sesión." });
    return redirect("/user/seguridad", 303);
  });

/** Asks before a person goes to another site to let models use their account there. */
export default function ToolAccount({ loaderData: { name }, actionData }: Route.ComponentProps) {
  return (
    <main className="entry" id="contenido">
      <Wordmark />
      {actionData && "leadsTo" in actionData ? (
        <>
          <h1>Falta tu permiso</h1>
          <p>Se da en {actionData.host}. Después vuelves aquí.</p>
          <LeadingOut to={actionData.leadsTo}>{`Seguir en ${actionData.host}`}</LeadingOut>
        </>
      ) : (
        <>
          <h1 className="break-words">Conectar tu cuenta de «{name}»</h1>
          <p className="mb-4">
            Los modelos podrán usarla en tus conversaciones, y en las de nadie más. Lo que traigan se guarda en ellas.
          </p>
          {actionData &&
            [actionData.message, ...Object.values(actionData.errors)].filter(Boolean).map((sentence) => (
              <Callout key={sentence} type="error">
                <p>{sentence}</p>
              </Callout>
            ))}
          <p className="mt-4 text-text-2">El permiso se da en su sitio, y se termina aquí, en Seguridad.</p>
          <PostForm className="buttons mt-6">
            <button type="submit" className="button primary">
              Ir a dar permiso
            </button>{" "}
            <a className="button" href="/user/seguridad">
              Ahora no
            </a>
          </PostForm>
        </>
      )}
    </main>
  );
}
