import { redirect } from "react-router";
import { z } from "zod";
import { renderedText } from "../../markdown/rendered.server.ts";
import { Callout } from "../../ui/callout.tsx";
import { DashboardPage } from "../../ui/dashboard-page.tsx";
import { PostForm } from "../../ui/forms/post-form.tsx";
import { sendForm } from "../../ui/forms/send-form.ts";
import { titled } from "../../ui/navigation/page-title.ts";
import { accepted, read } from "../../web/api-result.server.ts";
import { apiContext } from "../../web/context.ts";
import { sendFields } from "../../web/forms/form.server.ts";
import { safeReturn } from "../../web/safe-return.server.ts";
import type { Route } from "./+types/terms";

export const meta = titled("Condiciones");

export async function loader({ context }: Route.LoaderArgs) {
  const { version, owed, pages } = await read(context.get(apiContext).api.terms.$get());
  const shown = pages.map(async ({ slug, title, body }) => ({
    slug,
    title,
    html: await renderedText(`page:${slug}`, body, { page: true }, "pages"),
  }));
  return { version, owed, pages: await Promise.all(shown) };
}

const fields = z.object({ version: z.coerce.number() });

export const action = ({ context, url }: Route.ActionArgs) =>
  sendFields(context, fields, async (json) => {
    await accepted(context.get(apiContext).api.terms.$post({ json }));
    return redirect(safeReturn(url.searchParams.get("volver")), 303);
  });

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function Terms({ loaderData: { version, owed, pages }, actionData }: Route.ComponentProps) {
  const message = actionData && "message" in actionData ? actionData.message : undefined;
  return (
    <DashboardPage width="document" up={["/user", "Tu cuenta"]}>
      <h1>Condiciones</h1>
      <p className="text-text-2">
        {pages.length === 0
          ? "No hay nada que aceptar."
          : owed
            ? "Para seguir hay que aceptarlas. Lo que ya tienes sigue aquí, y en tu cuenta lo puedes descargar."
            : "Ya las has aceptado."}
      </p>
      {message && (
        <Callout type="warning">
          <p>{message}</p>
        </Callout>
      )}
      {pages.map(({ slug, title, html }) => (
        <section key={slug} className="mt-7" aria-labelledby={`condiciones-${slug}`}>
          <h2 id={`condiciones-${slug}`}>{title}</h2>
          {/* Safe: made by our own Markdown renderer, which lets no HTML through. */}
          <div className="prose mt-4" dir="auto" dangerouslySetInnerHTML={{ __html: html }} />
        </section>
      ))}
      {owed && version !== null && (
        <PostForm className="mt-7">
          <input type="hidden" name="version" value={version} />
          <button type="submit" className="button primary">
            Acepto
          </button>
        </PostForm>
      )}
    </DashboardPage>
  );
}
