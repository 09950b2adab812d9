import { Link } from "react-router";
import type { Route } from "./+types/home";

export const meta: Route.MetaFunction = () => [
  { title: "Tertulia: una mesa tranquila para conversar con la IA" },
  {
    name: "description",
    content:
      "Un espacio de trabajo en español para conversar con modelos de IA, en tu propio servidor y también sin JavaScript.",
  },
];

const reasons = [
  ["Lo tuyo se queda contigo", "Mensajes y claves están en tu disco. Bórralos cuando quieras."],
  [
    "El modelo lo eliges tú",
    "Ollama en tu máquina, OpenAI, Anthropic o Google. Sin ninguno, busca en lo que has escrito.",
  ],
  ["Nada se pierde", "La respuesta sigue aunque cierres la pestaña. El borrador te espera donde lo dejaste."],
  [
    "Funciona sin JavaScript",
    "También mientras responde. Va bien con mala cobertura, equipos viejos y navegadores de texto.",
  ],
];

export default function Home() {
  return (
    <main className="leaf home" id="contenido">
      <section className="hero hang">
        <h1 className="public-title">Una mesa tranquila para conversar con la IA</h1>
        <p className="lead">
          Tertulia es un espacio de trabajo en español que vive en tu propio servidor. Escribes, lees la respuesta
          mientras se escribe y la encuentras mañana en cualquier dispositivo.
        </p>
        <div className="buttons">
          <Link className="button primary" to="/auth/signup">
            Crear cuenta
          </Link>
          <a href="#instalar">Instalarla en tu servidor</a>
        </div>
      </section>
      <section className="part hang" id="instalar" aria-labelledby="una-orden">
        <h2 className="name" id="una-orden">
          Una orden
        </h2>
        <p>
          Clona el repositorio y escríbela. Arranca un solo proceso con el sitio, la API, la base de datos y la
          búsqueda. No hace falta ninguna clave.
        </p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways on narrow screens */}
        <pre className="terminal" tabIndex={0}>
          <code>
            <span className="text-text-3">$ </span>npm start{"\n"}
            <samp className="text-text-3">Tertulia escucha en http://localhost:3000</samp>
          </code>
        </pre>
      </section>
      <section className="part hang" aria-labelledby="cuatro-razones">
        <h2 className="name" id="cuatro-razones">
          Cuatro razones
        </h2>
        <ul className="reasons">
          {reasons.map(([title, text]) => (
            <li key={title}>
              <h3>{title}</h3>
              <p>{text}</p>
            </li>
          ))}
        </ul>
      </section>
    </main>
  );
}
