import type { familiesOf } from "./families.server.ts";

/** A letter to the families of people under age, as a template on paper. */
export function Families({ controller, contact, models, kept, isKept, blank }: ReturnType<typeof familiesOf>) {
  return (
    <>
      <h1>Carta a las familias</h1>
      <p className="mt-2 text-text-2">
        Un modelo con lo que esta instalación sabe de sí misma. Se imprime tal cual.
        {!isKept && " Ningún grupo está marcado como de menores: se marca en su ficha."}
      </p>
      <div className="prose mt-6">
        <p>Estimadas familias:</p>
        <p>
          En {controller} usamos un espacio para conversar con modelos de inteligencia artificial. Vuestra hija o
          vuestro hijo lo usará para: {blank}
        </p>
        <ul>
          <li>
            <strong>Quién responde.</strong> {controller}. Se le escribe a {contact}.
          </li>
          <li>
            <strong>Con qué contesta.</strong> {models} Puede equivocarse: se les enseña a comprobarlo, y lo dice la
            página cada vez.
          </li>
          {isKept && (
            <li>
              <strong>Qué no hay.</strong> Su grupo no busca en la web ni hace imágenes.
            </li>
          )}
          <li>
            <strong>Qué se guarda.</strong> {kept}
          </li>
          <li>
            <strong>Qué podéis pedir.</strong> Ver lo que ha escrito, llevároslo, corregirlo o borrarlo, y que deje de
            usarlo.
          </li>
        </ul>
        <p>☐ Damos permiso. ☐ No lo damos. (Hace falta por debajo de {blank} años.)</p>
        <p>Nombre, firma y fecha: {blank}</p>
      </div>
    </>
  );
}
