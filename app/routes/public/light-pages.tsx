import { redirect } from "react-router";
import { LightChoice } from "../../ui/light/light-choice.tsx";
import { titled } from "../../ui/navigation/page-title.ts";
import { formContext } from "../../web/context.ts";
import { textOf } from "../../web/forms/form.server.ts";
import { lightChoices, lightCookie } from "../../web/light/choice.server.ts";
import type { Route } from "./+types/light-pages";

export const meta = titled("Páginas ligeras");

/** Keeps in a cookie whether pages are to be light, for people with and without account. */
export async function action({ context }: Route.ActionArgs) {
  const given = textOf(context.get(formContext), "choice");
  const choice = lightChoices.find((one) => one === given) ?? "auto";
  return redirect("/paginas-ligeras", { status: 303, headers: { "Set-Cookie": await lightCookie(choice) } });
}

export default function LightPages() {
  return (
    <main className="leaf hang plain-page" id="contenido">
      <h1 className="public-title">Páginas ligeras</h1>
      <div className="prose">
        <p>
          Pesan la décima parte: sin JavaScript, con las imágenes como enlaces y con los últimos diez mensajes. Según la
          conexión, son ligeras si tu navegador dice que ahorra datos o que va despacio. Vale para este navegador.
        </p>
      </div>
      <LightChoice />
    </main>
  );
}
