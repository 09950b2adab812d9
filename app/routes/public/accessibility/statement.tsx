import { Link } from "react-router";
import { named } from "../../../ui/navigation/page-title.ts";
import type { Route } from "./+types/statement";
import { criteria, unmet } from "./criteria.server.ts";

export const meta: Route.MetaFunction = ({ matches }) => [
  ...named(matches, "Declaración de accesibilidad"),
  {
    name: "description",
    content: "Qué cumple este sitio de la norma EN 301 549, cómo se ha comprobado y a quién escribir.",
  },
];

// The day on which the criteria were gone through last.
const reviewed = "24 de noviembre de 2026";

export const loader = () => ({
  total: criteria.length,
  tested: criteria.filter(({ tests }) => tests).length,
  absent: criteria.filter(({ absent }) => absent).length,
  byPerson: criteria.flatMap(({ id, name, person }) => (person ? [{ id, name, person }] : [])),
  unmet,
});

/** The statement that Real Decreto 1112/2018 asks for (article 15), as true as the tests can make it. */
export default function Statement({
  loaderData: { total, tested, absent, byPerson, unmet: known },
}: Route.ComponentProps) {
  return (
    <main className="leaf hang plain-page" id="contenido">
      <h1 className="public-title">Declaración de accesibilidad</h1>
      <div className="prose">
        <p>
          Quien aloja este sitio se ha comprometido a hacerlo accesible como pide el Real Decreto 1112/2018, de 7 de
          septiembre. Esta declaración vale para todas sus páginas: las públicas, las de cada persona y las de
          administración.
        </p>
        <h2>Situación de cumplimiento</h2>
        <p>
          Es <strong>parcialmente conforme</strong> con ese real decreto (norma EN 301 549, y WCAG 2.2 en el nivel AA),
          por lo que se dice a continuación.
        </p>
        <h2>Contenido no accesible</h2>
        <ul>
          {known.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
          <li>
            Los textos que publica o escribe quien usa o aloja esta instalación son suyos: el programa no puede
            responder de ellos.
          </li>
        </ul>
        <h2>Cómo se ha comprobado</h2>
        <p>
          Es una autoevaluación. De los {total} criterios, {tested} los comprueban pruebas automáticas cada vez que se
          publica una versión: axe y dos validadores de HTML en cada página, con JavaScript y sin él; teclado, 320
          píxeles de ancho y texto al doble; lo que se anuncia a un lector de pantalla; Chromium, Firefox y WebKit, y
          los navegadores de texto w3m, lynx y elinks. {absent} no tienen aquí a qué aplicarse. Una prueba que pasa no
          demuestra que se cumpla un criterio: solo que no se ha encontrado que falle.
        </p>
        <h3>Lo que tiene que mirar una persona</h3>
        <p>
          Esto no lo puede juzgar una prueba, y no consta que lo haya comprobado nadie ajeno a quien hizo el programa:
        </p>
        <ul>
          {byPerson.map(({ id, name, person }) => (
            <li key={id}>
              {id} {name}: {person}
            </li>
          ))}
        </ul>
        <h2>Preparación de esta declaración</h2>
        <p>Se revisó por última vez el {reviewed}.</p>
        <h2>Observaciones y contacto</h2>
        <p>
          Para decir que algo no es accesible, pedir una información de otra forma o hacer una queja, escribe a quien
          aloja esta instalación por <Link to="/contacto">la página de contacto</Link>. El formulario funciona sin
          JavaScript y con el teclado. Si la respuesta no llega o no te parece bien, y quien la aloja es una
          administración pública, puedes iniciar el procedimiento de reclamación del artículo 13 de ese real decreto.
        </p>
      </div>
    </main>
  );
}
