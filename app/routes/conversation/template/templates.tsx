import { limits } from "../../../process/limits.ts";
import { cutText } from "../../../process/text/cut-text.ts";
import { titled } from "../../../ui/navigation/page-title.ts";
import { showSeen } from "../../../ui/navigation/pages-seen.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { OwnList, OwnRow } from "../own-list.tsx";
import type { Route } from "./+types/templates";

export const meta = titled("Plantillas");

const extract = 160;

export async function loader({ context }: Route.LoaderArgs) {
  const { items } = await read(context.get(apiContext).api.template.$get({ query: { limit: String(limits.listMax) } }));
  return {
    templates: items.map(({ id, title, content, shared, mayChange }) => ({
      id,
      title,
      begins: `${shared ? "De todos. " : ""}${cutText(content, extract)}`,
      mayChange,
    })),
  };
}

export const clientLoader = (args: Route.ClientLoaderArgs) => showSeen(args);

export default function Templates({ loaderData: { templates } }: Route.ComponentProps) {
  return (
    <OwnList
      title="Plantillas"
      create={["/conversation/template/crear", "Crear plantilla"]}
      empty={
        <>
          Una plantilla es un mensaje que escribes a menudo, con huecos como <code>{"{{ciudad}}"}</code> que se rellenan
          cada vez. Aún no hay ninguna.
        </>
      }
      rows={templates.map(({ id, title, begins, mayChange }) => (
        <OwnRow
          key={id}
          name={title}
          line={begins}
          to={`/conversation/chat?plantilla=${id}`}
          changeAt={mayChange && `/conversation/template/${id}`}
        />
      ))}
    >
      <p className="mt-6">
        <a href="/conversation/serie">Preguntas en serie</a>: una plantilla con los datos de una tabla.
      </p>
    </OwnList>
  );
}
