// Findings of the last test runs about the accessibility of this release: `npm run accesibilidad` after `npm run test:todo`, or for a part
// of it after `npm test` and `npm run test:largo`. It writes docs/accesibilidad.md, and the same as a conformance report in docs/acr.md.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { type Criterion, criteria, unmet } from "../../app/routes/public/accessibility/criteria.server.ts";
import type { Outcome } from "../reporters/outcome.ts";

const root = join(import.meta.dirname, "../..");

/** How often each file of tests has passed and failed. */
const results = new Map<string, { passed: number; failed: number }>();
const count = (name: string, how: "passed" | "failed") => {
  const [file = ""] = name.split(": ");
  const before = results.get(file) ?? { passed: 0, failed: 0 };
  results.set(file, { ...before, [how]: before[how] + 1 });
};
for (const path of globSync("test-results/{short,long,all}/*.json", { cwd: root })) {
  const { passed, failed } = JSON.parse(readFileSync(join(root, path), "utf8")) as Outcome;
  for (const name of passed) count(name, "passed");
  for (const { name } of failed) count(name, "failed");
}

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
const day = new Date().toISOString().slice(0, 10);
const rows = criteria.map(
  (one) => `| ${one.id} | ${one.clause || "–"} | ${one.name} | ${outcome(one)} | ${how(one)} |`,
);
const chapters = otherChapters();
const path = join(root, "docs/accesibilidad.md");
writeFileSync(
  path,
  `# Informe de conformidad

Tertulia ${version}, WCAG 2.2 AA y EN 301 549 v3.2.1 (apartado 9). Lo escriben las pruebas (\`npm run accesibilidad\`); el ${day}.
Que las pruebas pasen no demuestra que se cumpla un criterio: solo que no han encontrado dónde falla. Lo que tiene que mirar una
persona está dicho en su fila, y no consta que lo haya mirado nadie ajeno a quien hizo el programa.

## Lo que se sabe que no se cumple

${unmet.map((sentence) => `- ${sentence}`).join("\n")}

## Criterio a criterio

| WCAG | EN 301 549 | Criterio | Resultado | Cómo |
|---|---|---|---|---|
${rows.join("\n")}
`,
);

/** How far a criterion is met, in the words of VPAT 2.5 (INT). */
function level(one: Criterion): string {
  if (one.absent) return "No se aplica (Not Applicable)";
  if (outcome(one).includes("falla")) return "No cumple (Does Not Support)";
  if (unmet.some((sentence) => sentence.includes(`criterio ${one.id})`))) return "Cumple en parte (Partially Supports)";
  return outcome(one).startsWith("sin fallos") ? "Cumple (Supports)" : "No evaluado (Not Evaluated)";
}

/** A criterion's remark: known faults first, then how it was looked at. */
const remark = (one: Criterion) =>
  [...unmet.filter((sentence) => sentence.includes(`criterio ${one.id})`)), how(one)].join(" ");

const acr = join(root, "docs/acr.md");
writeFileSync(
  acr,
  `# Informe de conformidad de accesibilidad (ACR)

Según la plantilla VPAT 2.5 INT, con los mismos datos que el [informe](accesibilidad.md) (\`npm run accesibilidad\`).

| | |
|---|---|
| Producto | Tertulia ${version} |
| Fecha | ${day} |
| Qué se evalúa | las páginas públicas, el espacio de trabajo y la administración, con y sin JavaScript, y los documentos que se exportan |
| Cómo | pruebas en Chromium, Firefox y WebKit, axe, navegadores de texto y un lector de pantalla simulado; nadie ajeno a quien lo hizo |
| Normas | WCAG 2.2 A y AA; EN 301 549, cuyos números son los de la v3.2.1, y los criterios nuevos de WCAG 2.2, los que les da la misma numeración en la v4.1.1; Section 508 remite a WCAG 2.0, que está dentro |

## WCAG 2.2, niveles A y AA (EN 301 549, apartado 9)

| Criterio | Nivel de conformidad | Observaciones |
|---|---|---|
${criteria.map((one) => `| ${one.id} ${one.name} (9.${one.id}) | ${level(one)} | ${remark(one)} |`).join("\n")}

## EN 301 549, los demás apartados

| Apartado | Nivel de conformidad | Observaciones |
|---|---|---|
${chapters.map((row) => `| ${row.join(" | ")} |`).join("\n")}
`,
);
console.log(`${relative(root, path)}: ${criteria.length} criterios, ${results.size} archivos de pruebas.`);

/** The clauses on all that is no web page. */
function otherChapters(): [clause: string, level: string, remark: string][] {
  const absent = "No se aplica (Not Applicable)";
  const supports = "Cumple (Supports)";
  return [
    [
      "4.2 Declaraciones de prestaciones funcionales",
      supports,
      "Sin vista, con vista limitada, sin color, sin oído, sin voz, con poca fuerza o alcance y con poca lectura: todo es texto, va con teclado y sin prisa. Lo que un modelo escribe puede ser difícil de leer.",
    ],
    ["5.2 Activación de características de accesibilidad", supports, "No hay que activar ninguna."],
    [
      "5.3 Biometría",
      supports,
      "Una llave de acceso puede pedirla en el dispositivo; siempre se puede entrar con contraseña o con la organización.",
    ],
    [
      "5.4 Conservación de la información de accesibilidad",
      "Cumple en parte (Partially Supports)",
      "Al exportar se conservan encabezados, listas, tablas, enlaces y fórmulas; de un documento que se sube se lee el texto, no su estructura.",
    ],
    [
      "5.5 a 5.9 Partes accionables, bloqueo, repetición y pulsación doble",
      absent,
      "No hay aparato; ninguna tecla se repite sola y nada pide dos acciones a la vez.",
    ],
    ["6 Comunicación bidireccional por voz", absent, "El dictado escribe un texto; nadie habla con nadie."],
    ["7 Vídeo", absent, "No hay vídeo."],
    ["8 Hardware", absent, "No hay hardware."],
    [
      "10 Documentos que no son web",
      "Cumple en parte (Partially Supports)",
      "Markdown, DOCX y ODT con idioma, título, encabezados y notas; un PDF que alguien sube es como lo haya hecho su autor.",
    ],
    ["11 Software", absent, "Es un sitio web, también instalado; la API no tiene interfaz."],
    [
      "12.1 Documentación del producto",
      supports,
      "La ayuda (/user/ayuda) y los documentos son texto con encabezados; el informe y la declaración dicen qué hay y qué falta.",
    ],
    [
      "12.2 Servicios de apoyo",
      "No evaluado (Not Evaluated)",
      "El apoyo lo da quien aloja la instalación: los formularios de contacto y soporte son páginas como las demás.",
    ],
  ];
}

function outcome({ tests = [], person, absent }: Criterion): string {
  if (absent) return "no se aplica";
  const failed = tests.some((file) => (results.get(file)?.failed ?? 0) > 0);
  if (failed) return "**falla alguna prueba**";
  const untried = tests.filter((file) => !results.has(file));
  const seen = tests.length === 0 ? "" : untried.length === tests.length ? "sin probar" : "sin fallos encontrados";
  return [seen, person && "falta una persona"].filter(Boolean).join("; ");
}

function how({ tests = [], person, absent }: Criterion): string {
  const files = tests.map((file) => {
    const { passed = 0 } = results.get(file) ?? {};
    return `\`${file}\` (${passed > 0 ? `${passed} pasan` : "no en esta ejecución"})`;
  });
  return [absent, ...files, person && `Una persona: ${person}`].filter(Boolean).join(" · ");
}
