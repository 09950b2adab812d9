import { named } from "../../ui/navigation/page-title.ts";
import { Wordmark } from "../../ui/wordmark.tsx";
import { nonceContext } from "../../web/context.ts";
import type { Route } from "./+types/offline";

export const meta: Route.MetaFunction = ({ matches }) => [
  ...named(matches, "Sin conexión"),
  { name: "robots", content: "noindex" },
];

// The service worker keeps this page, which is of no use without its own script.
export const handle = { scripts: false };

export const loader = ({ context }: Route.LoaderArgs) => ({ nonce: context.get(nonceContext) });

/** Lists that `public/offline.js` fills: messages that wait to be sent, and pages that can be read offline. */
export default function Offline({ loaderData: { nonce } }: Route.ComponentProps) {
  return (
    <main className="leaf offline" id="contenido">
      <p className="mb-8">
        <Wordmark />
      </p>
      <h1>Sin conexión</h1>
      <p className="mt-2 text-text-2">
        Aquí está lo que has leído en la última semana en este navegador, y lo que has escrito sin conexión: se enviará
        solo, una vez, cuando vuelva. <a href="/conversation/chat">Probar otra vez</a>
      </p>
      <section aria-labelledby="pendientes">
        <h2 id="pendientes">Pendiente de enviar</h2>
        <p id="sin-pendientes" className="text-text-2">
          No hay nada pendiente.
        </p>
        <ul className="rows" id="lista-pendientes" />
        <p className="mt-4">
          <button type="button" className="button" id="enviar" hidden>
            Enviar ahora
          </button>{" "}
          <span role="status" id="enviado" />
        </p>
      </section>
      <section aria-labelledby="copias">
        <h2 id="copias">Para leer</h2>
        <p id="sin-copias" className="text-text-2">
          No hay nada guardado todavía. Hace falta JavaScript, y haber abierto alguna conversación.
        </p>
        <ul className="rows" id="lista-copias" />
      </section>
      <script defer src="/offline.js" nonce={nonce} />
    </main>
  );
}
