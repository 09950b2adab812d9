import { data } from "react-router";
import { z } from "zod";
import { PostForm } from "../../../../ui/forms/post-form.tsx";
import { Leaf } from "../../../../ui/leaf.tsx";
import { titled } from "../../../../ui/navigation/page-title.ts";
import { accepted, read } from "../../../../web/api-result.server.ts";
import { apiContext } from "../../../../web/context.ts";
import { sendFields } from "../../../../web/forms/form.server.ts";
import { requireActive, requireAuth } from "../../../../web/guards.server.ts";
import type { Route } from "./+types/share-artifact";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta = titled("Compartir escrito");

export async function loader({ context, params: { id }, url }: Route.LoaderArgs) {
  const artifact = await read(context.get(apiContext).api.artifact[":id"].$get({ param: { id }, query: {} }));
  const { title, version, mayChange, temporary, share } = artifact;
  if (!mayChange) throw data(null, 404);
  const link = share && { address: `${url.origin}/compartido/escrito/${share.token}`, version: share.version };
  return { title, version, temporary, link };
}

const fields = z.object({ intent: z.enum(["share", "stop"]) });

export const action = ({ context, params: { id } }: Route.ActionArgs) =>
  sendFields(context, fields, async ({ intent }) => {
    const { share } = context.get(apiContext).api.artifact[":id"];
    await (intent === "stop" ? accepted(share.$delete({ param: { id } })) : accepted(share.$put({ param: { id } })));
    return data(null);
  });

/** The link by which anyone may read an artifact. */
export default function ShareArtifact({ loaderData, actionData, params: { id } }: Route.ComponentProps) {
  const { title, version, temporary, link } = loaderData;
  const here = `/conversation/escrito/${id}`;
  return (
    <Leaf back={[here, "Volver al escrito"]} title={`Compartir «${title}»`}>
      {actionData?.message && (
        <p className="error mt-4" role="alert">
          {actionData.message}
        </p>
      )}
      {link && (
        <div className="field mt-5">
          <p className="label">Enlace</p>
          <p>
            <a className="break-all" href={link.address}>
              {link.address}
            </a>
          </p>
        </div>
      )}
      <p className="mt-4">{about(version, temporary, link)}</p>
      <PostForm className="buttons mt-5">
        {!temporary && version > 0 && link?.version !== version && (
          <>
            <button type="submit" className="button primary" name="intent" value="share">
              {link ? "Enseñar la última versión" : "Crear enlace"}
            </button>{" "}
          </>
        )}
        {link && (
          <button type="submit" className="button danger" name="intent" value="stop">
            Dejar de compartir
          </button>
        )}
      </PostForm>
    </Leaf>
  );
}

function about(version: number, temporary: boolean, link: { version: number } | null): string {
  if (temporary) return "Es de una conversación temporal y se borra con ella: no se puede compartir.";
  if (version === 0) return "Se está escribiendo. Cuando acabe se podrá compartir.";
  if (!link) {
    return "Se crea un enlace para leer este escrito tal como está ahora, sin cuenta. Lo que cambies después no se verá, y puedes retirarlo cuando quieras.";
  }
  const which = link.version === version ? "la última versión" : `la versión ${link.version}, y ya hay una ${version}`;
  return `Quien lo tenga puede leer y descargar ${which}, sin ver tu nombre, las demás ni la conversación.`;
}
