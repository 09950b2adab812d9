import { limits } from "../../../process/limits.ts";
import { titled } from "../../../ui/navigation/page-title.ts";
import { showSeen } from "../../../ui/navigation/pages-seen.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { OwnList, OwnRow } from "../own-list.tsx";
import type { Route } from "./+types/assistants";

export const meta = titled("Asistentes");

export async function loader({ context }: Route.LoaderArgs) {
  const { items } = await read(
    context.get(apiContext).api.assistant.$get({ query: { limit: String(limits.listMax) } }),
  );
  return {
    assistants: items.map(({ id, name, purpose, shared, mayChange }) => ({ id, name, purpose, shared, mayChange })),
  };
}

export const clientLoader = (args: Route.ClientLoaderArgs) => showSeen(args);

export default function Assistants({ loaderData: { assistants } }: Route.ComponentProps) {
  return (
    <OwnList
      title="Asistentes"
      create={["/conversation/assistant/crear", "Crear asistente"]}
      empty="Un asistente es un modelo con instrucciones, documentos y herramientas para una cosa concreta. Aún no hay ninguno."
      rows={assistants.map(({ id, name, purpose, shared, mayChange }) => (
        <OwnRow
          key={id}
          name={name}
          line={[shared && "De todos.", purpose].filter(Boolean).join(" ")}
          to={`/conversation/chat?asistente=${id}`}
          changeAt={mayChange && `/conversation/assistant/${id}`}
        />
      ))}
    >
      <p className="mt-6">
        <a href="/conversation/oficio">Oficios</a>: cómo se hace un trabajo, para que el modelo lo abra cuando haga
        falta.
      </p>
      <p className="mt-3">
        <a href="/conversation/sala">Salas</a>: otras personas hablan con un asistente tuyo por un enlace, sin cuenta.
      </p>
    </OwnList>
  );
}
