import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const rows = readFileSync(join(import.meta.dirname, "asvs.txt"), "utf8")
  .split("\n")
  .filter((line) => line && !line.startsWith("#"))
  .map((line) => {
    const [id = "", level = "", about = "", state = "", evidence = ""] = line.split("|");
    return { id, level, about, state, evidence };
  });

// Requirements of levels 1 and 2 of ASVS 5.0.0, by chapter.
const inChapters = [27, 11, 19, 10, 9, 35, 18, 7, 7, 29, 14, 9, 13, 9, 13, 16, 7];

it("docs/asvs.md lists each required ASVS and OWASP item once", async () => {
  const ids = rows.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const counted = inChapters.map((_, n) => ids.filter((id) => id.startsWith(`${n + 1}.`)).length);
  expect(counted).toEqual(inChapters);
  expect(rows.filter(({ level }) => level === "1")).toHaveLength(70);
  expect(rows.filter(({ level }) => level === "2")).toHaveLength(183);
  expect(ids.filter((id) => id.startsWith("ASI"))).toHaveLength(10);
  expect(rows.filter(({ state }) => !["sí", "parte", "no", "–"].includes(state))).toEqual([]);
  await expect(document()).toMatchFileSnapshot(join(root, "docs/asvs.md"));
});

it("docs/asvs.md cites existing tests, and evidence for each requirement", () => {
  const missing = rows.flatMap(({ id, evidence }) =>
    testsIn(evidence)
      .filter(
        ({ file, name }) => !existsSync(join(root, file)) || !readFileSync(join(root, file), "utf8").includes(name),
      )
      .map(({ file, name }) => `${id}: ${file}: ${name}`),
  );
  expect(missing).toEqual([]);
  expect(rows.filter(({ evidence }) => evidence.length < 8).map(({ id }) => id)).toEqual([]);
});

/** The tests that a row names: a file and, behind a colon, a part of a name in it; `it(`: all of it. */
function testsIn(evidence: string) {
  return [...evidence.matchAll(/(tests\/[\w./-]+\.ts): ([^;]+)/g)].map(([, file = "", name = ""]) => ({
    file,
    name: name.trim(),
  }));
}

function document(): string {
  const of = (some: typeof rows) => {
    const count = (state: string) => some.filter((row) => row.state === state).length;
    return `${count("sí")} se cumplen, ${count("parte")} en parte, ${count("no")} no, ${count("–")} no se aplican`;
  };
  const shown = (evidence: string) =>
    evidence.replace(/(tests\/[\w./-]+\.ts): ([^;]+)/g, (_, file: string, name: string) =>
      /^(it|test)\($/.test(name.trim()) ? `\`${file}\`` : `\`${file}\` («${name.trim()}»)`,
    );
  const table = (some: typeof rows) =>
    some
      .map(({ id, level, about, state, evidence }) => `| ${id} | ${level} | ${about} | ${state} | ${shown(evidence)} |`)
      .join("\n");
  const [asvs, agents] = [rows.filter(({ level }) => level !== "A"), rows.filter(({ level }) => level === "A")];
  return `# ASVS 5 y la lista de OWASP para agentes

Qué pide cada requisito de ASVS 5.0.0 en los niveles 1 y 2, en pocas palabras propias, si se cumple, y la prueba que lo lleva o la razón. El texto
de los requisitos es de OWASP y está en su sitio. Lo escribe \`npx vitest run tests/conformance -u\`, que falla si una prueba nombrada aquí no existe.
Que una prueba pase no demuestra que un requisito se cumpla: nadie ajeno a quien hizo el programa lo ha revisado.

ASVS: ${of(asvs)}. Agentes: ${of(agents)}.

## ASVS 5.0.0

| Requisito | Nivel | De qué trata | Se cumple | Prueba o razón |
|---|---|---|---|---|
${table(asvs)}

## OWASP Top 10 for Agentic Applications (2026)

| Riesgo | | De qué trata | Se atiende | Prueba o razón |
|---|---|---|---|---|
${table(agents)}
`;
}
