// Files of tests, by what they look at.
const axe = "tests/e2e/axe-with-script.spec.ts";
const everyPage = "tests/e2e/every-page-long.spec.ts";
const html = "tests/pages/html.test.ts";
const frame = "tests/e2e/frame.spec.ts";
const frameWithScript = "tests/e2e/frame-with-script.spec.ts";
const withScript = "tests/e2e/with-script.spec.ts";
const textBrowsers = "tests/text-browsers/flow.test.ts";
const outlines = "tests/pages/outlines.test.ts";
const sessions = "tests/pages/sessions.test.ts";

/**
 * One criterion of WCAG 2.2, levels A and AA. `tests`: files that check it each time; `person`: what no test can judge, so that a person
 * has to look; `absent`: why it applies to nothing here. `clause`: in EN 301 549 v3.2.1, which takes up WCAG 2.1; "": new in 2.2.
 */
export type Criterion = {
  id: string;
  name: string;
  clause: string;
  tests?: string[];
  person?: string;
  absent?: string;
};

const noMedia =
  "No hay vídeo, ni más sonido que las respuestas leídas en voz alta, cuyo texto está en la misma página.";

const known: Omit<Criterion, "clause">[] = [
  {
    id: "1.1.1",
    name: "Contenido no textual",
    tests: [axe, html],
    person: "Que el nombre de un archivo baste como alternativa de una imagen que adjunta una persona.",
  },
  { id: "1.2.1", name: "Solo audio y solo vídeo (grabado)", absent: noMedia },
  { id: "1.2.2", name: "Subtítulos (grabados)", absent: noMedia },
  { id: "1.2.3", name: "Audiodescripción o alternativa (grabada)", absent: noMedia },
  { id: "1.2.4", name: "Subtítulos (en directo)", absent: noMedia },
  { id: "1.2.5", name: "Audiodescripción (grabada)", absent: noMedia },
  { id: "1.3.1", name: "Información y relaciones", tests: [axe, html, everyPage] },
  { id: "1.3.2", name: "Secuencia significativa", tests: [textBrowsers, outlines] },
  {
    id: "1.3.3",
    name: "Características sensoriales",
    person: "Que ninguna instrucción dependa de dónde está algo o de su forma.",
  },
  { id: "1.3.4", name: "Orientación", tests: [everyPage] },
  { id: "1.3.5", name: "Identificar el propósito de la entrada", tests: [axe, html] },
  { id: "1.4.1", name: "Uso del color", person: "Que los estados se entiendan sin color: llevan además una palabra." },
  { id: "1.4.2", name: "Control del audio", absent: "Ningún sonido empieza solo." },
  { id: "1.4.3", name: "Contraste (mínimo)", tests: [axe, everyPage] },
  { id: "1.4.4", name: "Cambio de tamaño del texto", tests: [everyPage] },
  { id: "1.4.5", name: "Imágenes de texto", absent: "No hay imágenes de texto propias." },
  { id: "1.4.10", name: "Reajuste del texto", tests: [everyPage] },
  { id: "1.4.11", name: "Contraste no textual", person: "El contraste de los bordes de los campos y de las gráficas." },
  { id: "1.4.12", name: "Espaciado del texto", person: "Que con el espaciado que el criterio dice no se corte nada." },
  {
    id: "1.4.13",
    name: "Contenido al pasar el puntero o enfocar",
    person: "Las cifras de las gráficas al pasar por ellas.",
  },
  { id: "2.1.1", name: "Teclado", tests: [everyPage, textBrowsers] },
  { id: "2.1.2", name: "Sin trampas para el foco", tests: [frameWithScript, everyPage] },
  {
    id: "2.1.4",
    name: "Atajos de teclado",
    person: "Que los atajos de una tecla no molesten a quien dicta órdenes de voz.",
  },
  { id: "2.2.1", name: "Tiempo ajustable", tests: [frameWithScript, sessions] },
  { id: "2.2.2", name: "Poner en pausa, detener, ocultar", tests: [frameWithScript] },
  { id: "2.3.1", name: "Umbral de tres destellos", absent: "Nada destella." },
  { id: "2.4.1", name: "Evitar bloques", tests: [axe, outlines] },
  { id: "2.4.2", name: "Páginas tituladas", tests: [axe, html] },
  { id: "2.4.3", name: "Orden del foco", tests: [frameWithScript, withScript] },
  { id: "2.4.4", name: "Propósito de los enlaces (en contexto)", tests: [axe, outlines] },
  { id: "2.4.5", name: "Múltiples vías", tests: ["tests/e2e/search.spec.ts", outlines] },
  { id: "2.4.6", name: "Encabezados y etiquetas", tests: [axe, outlines] },
  { id: "2.4.7", name: "Foco visible", tests: [everyPage] },
  {
    id: "2.4.11",
    name: "Foco no tapado (mínimo)",
    person: "Que el foco no quede detrás de la barra ni del cuadro de mensaje.",
  },
  { id: "2.5.1", name: "Gestos del puntero", absent: "Ningún gesto hace falta: todo son enlaces, botones y campos." },
  { id: "2.5.2", name: "Cancelación del puntero", tests: [frameWithScript] },
  { id: "2.5.3", name: "Etiqueta en el nombre", tests: [axe] },
  { id: "2.5.4", name: "Actuación por movimiento", absent: "Nada se hace moviendo el aparato." },
  { id: "2.5.7", name: "Movimientos de arrastre", tests: [withScript] },
  { id: "2.5.8", name: "Tamaño del objetivo (mínimo)", tests: [everyPage] },
  { id: "3.1.1", name: "Idioma de la página", tests: [axe, html] },
  {
    id: "3.1.2",
    name: "Idioma de las partes",
    person: "Lo que un modelo o una persona escribe en otro idioma no se marca: no se sabe cuál es.",
  },
  { id: "3.2.1", name: "Al recibir el foco", tests: [frameWithScript] },
  { id: "3.2.2", name: "Al recibir entradas", tests: [frame, frameWithScript] },
  { id: "3.2.3", name: "Navegación coherente", tests: [outlines] },
  { id: "3.2.4", name: "Identificación coherente", tests: [outlines] },
  { id: "3.2.6", name: "Ayuda coherente", tests: [outlines] },
  { id: "3.3.1", name: "Identificación de errores", tests: [frame, frameWithScript, outlines] },
  { id: "3.3.2", name: "Etiquetas o instrucciones", tests: [axe, outlines] },
  { id: "3.3.3", name: "Sugerencias ante errores", tests: [outlines], person: "Que cada sugerencia se entienda." },
  { id: "3.3.4", name: "Prevención de errores (legales, de datos)", tests: [frame, frameWithScript] },
  { id: "3.3.7", name: "Entrada redundante", tests: [sessions, frame] },
  { id: "3.3.8", name: "Autenticación accesible (mínimo)", tests: ["tests/e2e/passkeys.spec.ts", frame] },
  { id: "4.1.2", name: "Nombre, función, valor", tests: [axe, html, everyPage] },
  { id: "4.1.3", name: "Mensajes de estado", tests: [withScript, frameWithScript] },
];

const newIn22 = new Set(["2.4.11", "2.5.7", "2.5.8", "3.2.6", "3.3.7", "3.3.8"]);

/** All criteria, in the order of WCAG. The report of a test run (`tests/conformance/report.ts`) and the statement use this list. */
export const criteria: Criterion[] = known.map((one) => ({ ...one, clause: newIn22.has(one.id) ? "" : `9.${one.id}` }));

/** Criteria that are known not to be met, or not everywhere. */
export const unmet = [
  "Lo que escribe un modelo o una persona en otro idioma no lleva marcado cuál es (criterio 3.1.2).",
  "Una imagen que alguien adjunta solo tiene por alternativa su nombre, y una que hace un modelo, lo que se le pidió (criterio 1.1.1).",
  "De los PDF y demás documentos que sube una persona se enseña el texto, sin la estructura que tuvieran (criterio 1.3.1).",
];
