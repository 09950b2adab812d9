import { useRouteLoaderData } from "react-router";
import type { loader as root } from "../../root.tsx";
import type { LightChoice as Choice } from "../../web/light/choice.server.ts";
import { PostForm } from "../forms/post-form.tsx";

const choices: [Choice, string][] = [
  ["auto", "según la conexión"],
  ["always", "siempre"],
  ["never", "nunca"],
];

/** «Páginas ligeras»: three buttons, the chosen one pressed. They lead back to the page they stand on. */
export function LightChoice() {
  const chosen = useRouteLoaderData<typeof root>("root")?.lightChoice ?? "auto";
  return (
    <PostForm className="light-choice" action="/paginas-ligeras" reloadDocument>
      <span id="ligeras-nombre">Páginas ligeras:</span>{" "}
      {choices.map(([choice, name]) => (
        <button
          key={choice}
          className="button quiet small"
          type="submit"
          name="choice"
          value={choice}
          aria-pressed={choice === chosen}
          aria-describedby="ligeras-nombre"
        >
          {name}
        </button>
      ))}
    </PostForm>
  );
}
