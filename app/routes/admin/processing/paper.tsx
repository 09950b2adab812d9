import { data } from "react-router";
import { DashboardPage } from "../../../ui/dashboard-page.tsx";
import { named } from "../../../ui/navigation/page-title.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { zoneContext } from "../zone.server.ts";
import type { Route } from "./+types/paper";
import { ensOf } from "./ens.server.ts";
import { Ens } from "./ens.tsx";
import { familiesOf } from "./families.server.ts";
import { Families } from "./families.tsx";
import { impactOf } from "./impact.server.ts";
import { Impact } from "./impact.tsx";

export const meta: Route.MetaFunction = ({ loaderData, matches }) =>
  named(matches, loaderData?.title ?? "Tratamiento de datos");

export async function loader({ context, params }: Route.LoaderArgs) {
  const processing = await read(context.get(apiContext).api.system.processing.$get());
  const zone = context.get(zoneContext);
  switch (params.paper) {
    case "ens":
      return { title: "Medidas del ENS", ens: ensOf(processing, zone) };
    case "impacto":
      return { title: "Evaluación de impacto", impact: impactOf(processing, zone) };
    case "familias":
      return { title: "Carta a las familias", families: familiesOf(processing) };
    default:
      throw data(null, 404);
  }
}

/** A paper that is filled in from the settings, to be printed. */
export default function Paper({ loaderData: { ens, impact, families } }: Route.ComponentProps) {
  return (
    <DashboardPage width="document" up={["/admin/tratamiento", "Tratamiento de datos"]}>
      {ens && <Ens {...ens} />}
      {impact && <Impact {...impact} />}
      {families && <Families {...families} />}
    </DashboardPage>
  );
}
