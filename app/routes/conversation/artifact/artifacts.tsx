import { Leaf } from "../../../ui/leaf.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { ago } from "../../../ui/times.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import { OwnRow } from "../own-list.tsx";
import type { Route } from "./+types/artifacts";
import { kindWords } from "./kind-words.ts";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta = titled("Escritos");

export async function loader({ context, url }: Route.LoaderArgs) {
  const q = url.searchParams.get("q")?.slice(0, 200) ?? "";
  const { items } = await read(context.get(apiContext).api.artifact.$get({ query: { q } }));
  const now = Date.now();
  return {
    q,
    artifacts: items.map(({ id, title, kind, updatedAt, version, mayChange }) => ({
      id,
      title,
      line: [
        kindWords[kind],
        version === 0 ? "se está escribiendo" : ago(updatedAt, now),
        !mayChange && "de un proyecto",
      ]
        .filter(Boolean)
        .join(" · "),
    })),
  };
}

/** Artifacts of a person, and those shown in the projects that the person is in. */
export default function Artifacts({ loaderData: { q, artifacts } }: Route.ComponentProps) {
  return (
    <Leaf back={["/conversation/chat", "Volver a las conversaciones"]} title="Escritos">
      <p className="mt-3 text-text-2">
        Textos, tablas y programas que se escriben junto a una conversación. Pídele uno a un modelo («escribe un informe
        sobre…»), o empiézalo tú.
      </p>
      <p className="buttons mt-4">
        <a className="button primary" href="/conversation/escrito/crear">
          Crear escrito
        </a>
      </p>
      {(artifacts.length > 0 || q) && (
        <form className="buttons mt-6" action="/conversation/escrito">
          <input
            className="input"
            type="search"
            name="q"
            size={30}
            maxLength={200}
            defaultValue={q}
            placeholder="Buscar por título"
            aria-label="Buscar por título"
          />{" "}
          <button type="submit" className="button">
            Buscar
          </button>
        </form>
      )}
      {artifacts.length > 0 ? (
        <ul className="rows mt-6">
          {artifacts.map(({ id, title, line }) => (
            <OwnRow key={id} name={title} line={line} to={`/conversation/escrito/${id}`} />
          ))}
        </ul>
      ) : (
        <p className="mt-6">{q ? `Ninguno se llama «${q}».` : "Aún no hay ninguno."}</p>
      )}
    </Leaf>
  );
}
