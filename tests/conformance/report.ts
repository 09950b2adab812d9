// Findings of the last test runs about the accessibility of this release: `npm run accesibilidad` after `npm run test:todo`, or for a part
// of it after `npm test` and `npm run test:largo`. It writes docs/accesibilidad.md.
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
console.log(`${relative(root, path)}: ${criteria.length} criterios, ${results.size} archivos de pruebas.`);

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
