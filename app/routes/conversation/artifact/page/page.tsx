import { data } from "react-router";
import { Leaf } from "../../../../ui/leaf.tsx";
import { named } from "../../../../ui/navigation/page-title.ts";
import { read } from "../../../../web/api-result.server.ts";
import { apiContext } from "../../../../web/context.ts";
import { requireActive, requireAuth } from "../../../../web/guards.server.ts";
import { versionIn } from "../version-in.ts";
import type { Route } from "./+types/page";
import { freedoms } from "./freedoms.ts";
import { isPage } from "./is-page.ts";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta: Route.MetaFunction = ({ loaderData, matches }) => named(matches, loaderData?.title ?? "Página");

export async function loader({ context, params: { id }, url }: Route.LoaderArgs) {
  const query = versionIn(url);
  const { title, language } = await read(context.get(apiContext).api.artifact[":id"].$get({ param: { id }, query }));
  if (!isPage(language)) throw data(null, 404);
  const version = query.version ? `version=${query.version}` : "";
  return { id, title, version, runs: url.searchParams.get("programas") === "si" };
}

/** A page that is written as an artifact, in a frame of its own. */
export default function WrittenPage({ loaderData: { id, title, version, runs } }: Route.ComponentProps) {
  const here = `/conversation/escrito/${id}`;
  const allowed = [version, "programas=si"].filter(Boolean).join("&");
  return (
    <Leaf back={[`${here}?${version}`, "Volver al escrito"]} title={title}>
      <p className="mt-3 text-text-2">
        {runs
          ? "Sus programas funcionan aquí dentro y no ven nada de Tertulia. No cargan nada de fuera, pero uno malintencionado podría mandar a otro sitio lo que hay en esta página. "
          : "Se ve aparte: sin nada de Tertulia, sin cargar nada de fuera y sin sus programas. "}
        <a href={`${here}/pagina?${runs ? version : allowed}`}>
          {runs ? "Quitar sus programas" : "Permitir sus programas esta vez"}
        </a>
      </p>
      <iframe
        className="written-page mt-5"
        title={title}
        sandbox={runs ? freedoms : ""}
        src={`${here}/pagina/contenido?${runs ? allowed : version}`}
      />
    </Leaf>
  );
}
