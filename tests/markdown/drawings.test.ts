import { describe, expect, it } from "vitest";
import { draw, drawnIn } from "../../app/markdown/drawings/draw.server.ts";
import { drawingsIn } from "../../app/markdown/drawings/drawings-in.server.ts";
import { renderMarkdown } from "../../app/markdown/render.server.ts";
import { renderSafely } from "../../app/markdown/rendered.server.ts";
import { MarkdownStream } from "../../app/markdown/stream.server.ts";

const fence = (language: string, code: string) => `\`\`\`${language}\n${code}\n\`\`\`\n`;
const made = async (language: string, code: string) => {
  const [source] = drawingsIn(fence(language, code));
  if (!source) throw new Error("no drawing");
  return draw(source, "ana");
};
const picture = async (language: string, code: string) => {
  const one = await made(language, code);
  if ("problem" in one) throw new Error(one.problem);
  return one;
};
const problem = async (language: string, code: string) => {
  const one = await made(language, code);
  return "problem" in one ? one.problem : undefined;
};

const bars = {
  data: {
    values: [
      { mes: "enero", euros: 1200.5 },
      { mes: "febrero", euros: 900 },
    ],
  },
  mark: "bar",
  encoding: { x: { field: "mes" }, y: { field: "euros", type: "quantitative" } },
};

describe("code that is drawn", () => {
  it.each([
    ["mermaid", "graph TD\nA[Solicitud] --> B{¿Completa?}\nB -->|Sí| C[Alta]\nB -->|No| D[Subsanar]", "¿Completa?"],
    [
      "mermaid",
      "---\ntitle: X\n---\n%%{init: {}}%%\nsequenceDiagram\nAna->>Banco: Pide saldo\nBanco-->>Ana: 100 €",
      "Pide saldo",
    ],
    ["mermaid", "classDiagram\nclass Animal {\n+String nombre\n}\nAnimal <|-- Perro", "Perro"],
    ["mermaid", "erDiagram\nCLIENTE ||--o{ PEDIDO : hace", "PEDIDO"],
    ["mermaid", "stateDiagram-v2\n[*] --> Abierto\nAbierto --> [*] : cerrar", "Abierto"],
    ["mermaid", 'pie title Gastos\n"Luz" : 40\n"Agua" : 60.5', "Agua"],
    [
      "mermaid",
      'xychart-beta\ntitle "Ventas"\nx-axis [ene, feb]\ny-axis "Euros" 0 --> 9\nbar [3, 5]\nline [2, 4]',
      "Ventas",
    ],
    [
      "mermaid",
      "gantt\ntitle Obra\ndateFormat YYYY-MM-DD\nsection Uno\nExcavar :a1, 2024-01-01, 30d\nPintar :after a1, 2w",
      "Excavar",
    ],
    ["mermaid", "mindmap\n  root((Fiesta))\n    Música\n      Orquesta\n    Comida", "Orquesta"],
    [
      "dot",
      'digraph { rankdir=LR; "Año" -> B [label="va", URL="https://x.es"]; B [href="javascript:alert(1)"] }',
      "Año",
    ],
    ["vega-lite", JSON.stringify(bars), "febrero"],
    [
      "json",
      `{"$schema": "https://vega.github.io/schema/vega-lite/v6.json", ${JSON.stringify(bars).slice(1)}`,
      "enero",
    ],
    [
      "svg",
      '<svg viewBox="0 0 40 20"><rect width="40" height="20" fill="red"/><text x="1" y="9">Hola</text></svg>',
      "Hola",
    ],
  ])("%s: %s", async (language, code, word) => {
    const { svg, width, height, label } = await picture(language, code);
    expect(label).toContain(word);
    expect(svg).toMatch(/^<svg width="\d+" height="\d+" /);
    expect(width).toBeGreaterThan(10);
    expect(height).toBeGreaterThan(10);
    expect(svg).not.toMatch(/script|https?:\/\/(?!www\.w3\.org)|href|var\(/);
  });

  it("shows numbers as they are written in Spanish, and as a table", async () => {
    const { svg, table } = await picture("vega-lite", JSON.stringify(bars));
    expect(svg).toContain("1.200");
    expect(table).toEqual({
      columns: ["mes", "euros"],
      rows: [
        ["enero", "1200,5"],
        ["febrero", "900"],
      ],
    });
  });

  it("keeps what no picture can be made of as code, and says why", async () => {
    expect(await problem("dot", "digraph {\n a ->\n -> }")).toMatch(/^No se entiende como DOT: mira la línea \d\.$/);
    expect(await problem("mermaid", "gitGraph\ncommit")).toBe(
      "No se dibujan los de Mermaid que empiezan por «gitGraph».",
    );
    expect(await problem("vega-lite", "{")).toBe("No se entiende: no es un JSON válido.");
    const elsewhere = { ...bars, data: { url: "http://127.0.0.1:1/datos.csv" } };
    expect(await problem("vega-lite", JSON.stringify(elsewhere))).toContain("están en otro sitio");
    expect(await problem("svg", '<svg viewBox="0 0 1 1"><script>alert(1)</script></svg>')).toContain("lleva <script>");
    expect(await problem("dot", `digraph { ${"a -> b;".repeat(5_000)} }`)).toBe("Es demasiado largo para dibujarlo.");
  });

  it("is given up where it takes too much time or memory", async () => {
    const endless = { data: { sequence: { start: 0, stop: 1e9 } }, mark: "point", encoding: { x: { field: "data" } } };
    expect(await problem("vega-lite", JSON.stringify(endless))).toBe("Es demasiado para dibujarlo.");
    const many = { ...endless, data: { sequence: { start: 0, stop: 20_000 } } };
    expect(await problem("vega-lite", JSON.stringify(many))).toContain("demasiadas piezas");
  });
});

describe("a text with drawings", () => {
  const code = "digraph { a -> b }";
  const text = `Así es:\n\n- Uno\n\n  ${fence("dot", code).replaceAll("\n", "\n  ")}\nY sigue.\n\n${fence("js", "1")}`;

  it("shows pictures, with their size and their code folded", async () => {
    const env = { drawingsAt: "/dibujo/", drawn: await drawnIn(text, "ana") };
    const html = renderMarkdown(text, env);
    expect(html).toMatch(/<img src="\/dibujo\/[0-9a-f]{20}" alt="Dibujo: a; b" width="\d+" height="\d+">/);
    expect(html).toContain("<details><summary>Ver el código</summary>");
    expect(html.match(/<figure class="drawing">/g)).toHaveLength(1);
    expect(renderMarkdown(text, { ...env, light: true })).toMatch(/Ver el dibujo \(SVG, \d kB\)/);
    expect(renderMarkdown(text, { ...env, light: true })).not.toContain("<img");
    expect(await renderSafely(text, "ana")).not.toContain('figure class="drawing"');
  });

  it("shows each once its code is whole while it grows, and not what is cut off", async () => {
    const growing = `${fence("dot", code)}\nY más`;
    const stream = new MarkdownStream({ drawingsAt: "/dibujo/" }, { byWord: true });
    let html = "";
    for (const letter of growing) {
      html += stream.push(letter).append;
      if (!html.includes("Y")) continue;
      expect(html).toContain("<img");
    }
    expect(html.indexOf("<img")).toBeGreaterThan(html.indexOf("digraph"));
    expect(renderMarkdown(`\`\`\`dot\n${code}`, { drawingsAt: "/dibujo/" })).not.toContain("<img");
  });
});
