import type { PageRow } from "./tables.ts";

type FirstPage = Pick<PageRow, "slug" | "title" | "description" | "body" | "inMenu">;

/** The public pages of a fresh installation; afterwards they are the admins' to change. */
export const firstPages: FirstPage[] = [
  {
    slug: "inicio",
    title: "Una mesa tranquila para conversar con la IA",
    description:
      "Un espacio de trabajo en español para conversar con modelos de IA, en tu propio servidor y también sin JavaScript.",
    inMenu: 0,
    body: `Pregunta, pide un borrador o consulta tus documentos, en español. Lees la respuesta mientras se escribe, y mañana está donde la dejaste, en cualquier dispositivo.

[Crear cuenta](/auth/signup) [Ver qué hace](/servicios)

## Para qué

- **Preguntar y escribir.** Un correo, un resumen, una traducción, una duda: escribes, y sigues la respuesta mientras llega.
- **Consultar tus papeles.** Sube contratos, actas, hojas o fotos, y pregunta por lo que dicen; cada respuesta lleva a su sitio.
- **Trabajar juntos.** Proyectos con sus documentos y sus instrucciones, asistentes preparados y conversaciones compartidas.
- **Encontrarlo después.** Todo lo dicho se busca, se ordena y se descarga.

## Para quién

- **Quien estudia o escribe.** Guarda sus preguntas y sus borradores, y los vuelve a encontrar por lo que dicen.
- **Equipos pequeños.** Un despacho, una asociación o un instituto que quiere usar la IA sin repartir sus conversaciones por internet.
- **Quien no puede o no quiere depender de una empresa.** La casa está en un servidor de confianza.

## Cuatro razones

- **Lo tuyo es tuyo.** Los mensajes y los archivos están en esta casa. Los descargas o los borras cuando quieras.
- **El modelo lo eliges tú.** Entre los que ofrece la casa, en cada conversación. Sin ninguno, busca en lo que has escrito.
- **Nada se pierde.** La respuesta sigue aunque cierres la pestaña. El borrador te espera donde lo dejaste.
- **Funciona sin JavaScript.** También mientras responde. Va bien con mala cobertura, equipos viejos y navegadores de texto.
`,
  },
  {
    slug: "servicios",
    title: "Servicios",
    description: "Qué puedes hacer aquí: conversar, volver atrás, buscar y llevarte lo tuyo.",
    inMenu: 1,
    body: `Este sitio hace una cosa: te deja conversar con modelos de inteligencia artificial y cuida lo que se ha dicho. Esto es lo que incluye.

## Conversaciones

La respuesta aparece mientras se escribe y queda guardada desde la primera palabra. Si cierras la pestaña, sigue; si la detienes, el texto se queda. Puedes editar un mensaje anterior, pedir otra respuesta y pasar de una versión a otra.

## El modelo que prefieras

Cada conversación elige su modelo. Sirven los de OpenAI, Anthropic y Google, los que tengas en Ollama y cualquier servidor compatible. Si no hay ninguno, el asistente local busca en lo que ya has escrito y dice de dónde sale cada cosa.

## Encontrarlo después

Las conversaciones se ordenan por fecha, se fijan arriba las que usas y tienen un título que dice de qué tratan.

## Llevarte lo tuyo

Desde tu cuenta descargas todas tus conversaciones en Markdown y JSON. También puedes eliminar la cuenta con todo lo que hay en ella, sin escribir a nadie.

## Para otros programas

Todo lo que hacen las páginas pasa por una API abierta. Un programa tuyo puede preguntar, leer y guardar con las mismas reglas y los mismos límites.

[Crear cuenta](/auth/signup) [Preguntar antes](/contacto)
`,
  },
  {
    slug: "sobre-nosotros",
    title: "Sobre nosotros",
    description: "Por qué existe este sitio y qué promete a quien lo usa.",
    inMenu: 1,
    body: `Una tertulia es una reunión de gente que conversa sin prisa y sin orden del día. Eso queríamos: un lugar tranquilo donde pensar en voz alta, y no otro panel lleno de botones.

## Qué nos importa

Que funcione para todo el mundo. Hay quien navega con un móvil de hace ocho años, con la cobertura de un pueblo, con un lector de pantalla o con JavaScript desactivado. Este sitio se escribe primero para esas personas; para las demás, va más deprisa.

Que lo dicho no se pierda. Ni un mensaje a medio escribir ni una respuesta a medias.

Que sea tuyo. Está en un servidor propio, guarda los datos en él y no avisa a nadie de lo que haces.

## Quién lleva este sitio

Lo lleva la persona o el equipo que lo ha instalado. Decide qué modelos hay, quién puede entrar y cuánto se guarda. Si quieres saber algo, [escríbele](/contacto).
`,
  },
  {
    slug: "soporte",
    title: "Soporte",
    description: "Ayuda con tu cuenta y con lo que no funciona.",
    inMenu: 1,
    body: `Cuéntanos qué ha pasado y qué esperabas que pasara. Si había un mensaje de error, cópialo tal cual.

Antes de escribir, quizá esto baste:

- **No puedo entrar.** Comprueba el correo y [pide una contraseña nueva](/auth/reset).
- **La respuesta se ha cortado.** Lo escrito está guardado: pulsa «Continuar» debajo de ella.
- **Mi cuenta está inactiva.** Escríbenos desde este formulario con el correo de tu cuenta.
- **Quiero irme.** En [tu cuenta](/user) puedes descargar tus datos y eliminarla.
`,
  },
  {
    slug: "contacto",
    title: "Contacto",
    description: "Escribe a quien lleva este sitio.",
    inMenu: 1,
    body: `Escríbenos para preguntar por esta instalación, pedir acceso o proponer algo. Lo lee una persona.

Si ya tienes cuenta y algo no funciona, en [Soporte](/soporte) hay respuestas a lo más frecuente.
`,
  },
];
