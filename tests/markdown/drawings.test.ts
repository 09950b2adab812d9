import { describe, expect, it } from "vitest";
import { draw, drawnIn } from "../../app/markdown/drawings/draw.server.ts";
import { drawingsIn } from "../../app/markdown/drawings/drawings-in.server.ts";
import { chartOf } from "../../app/markdown/drawings/mermaid/charts.server.ts";
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

  it("writes numbers in Spanish format and adds a table", async () => {
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

  it.each([
    [
      "a flow as it is often written",
      "graph TD;\n  A-->B;\n  B --texto--> C;\n  C --o D; C --x D\n  A & B ==> Sesión\n  Sesión -.-> E(((Fin)))",
      ["A", "B", "texto", "C", "D", "Sesión", "Fin"],
    ],
    [
      "groups, styles and names that come later",
      'flowchart LR\nsubgraph uno ["Grupo (uno)"]\n a["Texto<br/>en dos"] --> b{{hexa}}\nend\nuno --> c\nc:::rojo\nclick a "https://x.es"\nstyle a fill:#f9f\nclassDef rojo fill:#f00\nd@{ shape: cyl, label: "Datos" }\nc --> d',
      ["Grupo (uno)", "Texto", "en dos", "hexa", "Datos"],
    ],
    [
      "a group as the manual writes it",
      "flowchart TB\nsubgraph ide1 [one]\na-->b\nend\nc-->ide1",
      ["one", "a", "b", "c"],
    ],
    [
      "a sequence",
      "sequenceDiagram\nautonumber\nactor N as Navegador web\nparticipant A\nN->>+A: pide <datos>\nalt va bien\nA-->>-N: sí\nelse falla\nA-xN: no\nend\nNote right of A: fin\nA->>A: piensa",
      ["Navegador web", "1. pide <datos>", "alt [va bien]", "[falla]", "3. no", "fin", "4. piensa"],
    ],
    [
      "classes",
      'classDiagram\nclass Pedido {\n  <<entity>>\n  -id: int\n  +total(): float\n  +lineas: List~Linea~\n}\nRepositorio~Pedido~ "1" o-- "0..*" Pedido : guarda\nclass M["Coche eléctrico"]',
      [
        "Repositorio<Pedido>",
        "-id: int",
        "+total(): float",
        "+lineas: List<Linea>",
        "«entity»",
        "guarda",
        "Coche eléctrico",
      ],
    ],
    [
      "entities",
      'erDiagram\nCLIENTE ||--o{ PEDIDO : hace\n"ORDEN DE COMPRA" }o..o{ PEDIDO : "x y"\np[Persona] {\n  int id PK "la clave"\n  string nombre\n}',
      ["CLIENTE", "ORDEN DE COMPRA", "x y", "Persona", "la clave", "PK"],
    ],
    [
      "states",
      'stateDiagram-v2\ndirection LR\n[*] --> A\nstate "Con espacios" as B\nstate dentro {\n  [*] --> X\n  X --> [*] : sale\n}\nA --> B\nB --> dentro\nstate c <<choice>>\ndentro --> c\nc --> A : otra vez\nnote right of A : una nota',
      ["Con espacios", "dentro", "X", "sale", "otra vez", "una nota"],
    ],
    [
      "a gantt",
      "gantt\ndateFormat YYYY-MM-DD\nsection Uno\nRevisión :rev-1, 2024-01-01, 3d\nHito :milestone, after rev-1, 0d\nsection Dos\nRevisión :after rev-1, 2w",
      ["Revisión", "Hito", "Uno", "Dos"],
    ],
    [
      "a gantt with Spanish dates and free days",
      "gantt\ndateFormat DD/MM/YYYY\nexcludes weekends, 2024-01-09\nDiseño :a, 05/01/2024, 3d\nObra :after a, 2d",
      ["Diseño", "Obra"],
    ],
    [
      "a sequence with boxes",
      "sequenceDiagram\nbox LightBlue Nuestra casa\nparticipant A as Ana\nparticipant B\nend\nbox Fuera\nparticipant C\nend\nA->>C: pide",
      ["Nuestra casa", "Fuera", "Ana", "pide"],
    ],
    [
      "classes with notes and namespaces",
      'classDiagram\nnote "Borrador"\nnamespace Ventas {\nclass Pedido {\n+id: int\n}\nclass Cliente\n}\nnote for Pedido "Lo cierra\\nel cliente"\nPedido --> Cliente',
      ["Borrador", "Ventas", "Lo cierra", "el cliente", "+id: int", "Cliente"],
    ],
    [
      "bars on their side",
      'xychart-beta horizontal\nx-axis ["Enero, 2024", "Febrero, 2024"]\nbar [1000, 2500]',
      ["Enero, 2024", "Febrero, 2024"],
    ],
  ])("has all that %s says", async (_name, code, words) => {
    const { svg } = await picture("mermaid", code);
    const said = [...svg.matchAll(/<text[^>]*>([\s\S]*?)<\/text>/g)].map(([, text = ""]) =>
      text
        .replace(/<[^>]*>/g, "")
        .replaceAll("&lt;", "<")
        .replaceAll("&gt;", ">")
        .replaceAll("&amp;", "&")
        .replaceAll("\u00a0", " ")
        .replaceAll("&#160;", " "),
    );
    for (const word of words) expect(said.join("\n")).toContain(word);
  });

  it.each([
    ["mermaid", "graph TD\nA --> B\nesto no es nada [", "«esto no es nada [»"],
    ["mermaid", "classDiagram\nnote hola", "«note hola»"],
    ["mermaid", "classDiagram\nnamespace A {\nclass B", "le falta una llave"],
    ["mermaid", "gantt\nexcludes festivos\nUno :a, 2024-01-01, 3d", "«excludes festivos»"],
    ["mermaid", "gantt\ndateFormat MM-DD-YYYY\nUno :a, 01-02-2024, 3d", "«dateFormat MM-DD-YYYY»"],
    ["mermaid", 'pie\n"Luz" : 40\n"Agua" : 19,5', '«"Agua" : 19,5»'],
    ["mermaid", 'pie\n"Luz" : 1.200\n"Agua" : 800', '«"Luz" : 1.200»'],
    ["mermaid", "gantt\nUno :a, 2024-01-01, 3d\nDos :after c, 3d", "«Dos :after c, 3d»"],
    ["mermaid", "xychart-beta\nx-axis [a, b, c]\nbar [1, 2]", "tantos números como nombres"],
    [
      "vega-lite",
      JSON.stringify({ ...bars, encoding: { x: { field: "Mes" }, y: { field: "euros" } } }),
      "no tienen «Mes»",
    ],
    ["vega-lite", JSON.stringify({ ...bars, data: { name: "tabla" } }), "No tiene datos."],
    ["svg", '<svg viewBox="0 0 9 9"><path d="M0 0 </svg>', "mal escrito"],
    [
      "svg",
      `<svg viewBox="0 0 9 9"><defs>${Array.from({ length: 8 }, (_, n) => `<marker id="m${n}"><path d="M0 0L1 1L2 2L3 3L4 4" marker-mid="url(#m${n + 1})"/></marker>`).join("")}</defs><path d="M0 0L1 1L2 2L3 3" marker-mid="url(#m0)"/></svg>`,
      "demasiadas piezas",
    ],
    [
      "svg",
      `<svg viewBox="0 0 9 9"><defs>${Array.from({ length: 12 }, (_, n) => `<mask id="m${n}"><g mask="url(#m${n + 1})"/><g mask="url(#m${n + 1})"/><g mask="url(#m${n + 1})"/></mask>`).join("")}</defs><g mask="url(#m0)"/></svg>`,
      "demasiadas piezas",
    ],
    ["svg", '<svg viewBox="0 0 9 9"><filter id="f"><feTurbulence/></filter></svg>', "lleva <filter>"],
  ])("says of %s that it is not understood, rather than draw something else: %s", async (language, code, why) => {
    expect(await problem(language, code)).toContain(why);
  });

  it("lets tasks skip the days that a gantt excludes", () => {
    // The fifth is a Friday.
    const chart = chartOf("gantt", [
      "gantt",
      "dateFormat DD/MM/YYYY",
      "excludes weekends, 2024-01-09",
      "Diseño :a, 05/01/2024, 3d",
      "Entrega :after a, 16/01/2024",
    ]);
    expect(chart).toMatchObject({
      data: {
        values: [
          { tarea: "Diseño", desde: "2024-01-05T00:00", hasta: "2024-01-11T00:00" },
          { tarea: "Entrega", desde: "2024-01-11T00:00", hasta: "2024-01-16T00:00" },
        ],
      },
    });
  });

  it("takes addresses in its rows for data", async () => {
    const rows = { ...bars, data: { values: [{ mes: "enero", euros: 1, url: "https://x.es/a" }] } };
    expect((await picture("vega-lite", JSON.stringify(rows))).table?.columns).toContain("url");
    const linked = { ...bars, encoding: { ...bars.encoding, href: { value: "https://x.es" } } };
    expect((await picture("vega-lite", JSON.stringify(linked))).svg).not.toContain("x.es");
  });

  it("is kept as code with a reason when drawing fails", async () => {
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

  it("is abandoned when it takes too much time or memory", async () => {
    const endless = { data: { sequence: { start: 0, stop: 1e9 } }, mark: "point", encoding: { x: { field: "data" } } };
    expect(await problem("vega-lite", JSON.stringify(endless))).toBe("Es demasiado para dibujarlo.");
    const many = { ...endless, data: { sequence: { start: 0, stop: 20_000 } } };
    expect(await problem("vega-lite", JSON.stringify(many))).toBe("El dibujo es demasiado grande.");
  });
});

describe("a text with drawings", () => {
  const code = "digraph { a -> b }";
  const text = `Así es:\n\n- Uno\n\n  ${fence("dot", code).replaceAll("\n", "\n  ")}\nY sigue.\n\n${fence("js", "1")}`;

  it("shows pictures, with their size and their code folded", async () => {
    // They are kept: a page waits for its drawings for a moment only.
    await Promise.all(drawingsIn(text).map((source) => draw(source, "ana")));
    const env = { drawingsAt: "/dibujo/", drawn: await drawnIn(text, "ana") };
    const html = renderMarkdown(text, env);
    expect(html).toMatch(/<img src="\/dibujo\/[0-9a-f]{20}" alt="Dibujo: a; b" width="\d+" height="\d+">/);
    expect(html).toContain("<details><summary>Ver el código</summary>");
    expect(html.match(/<figure class="drawing">/g)).toHaveLength(1);
    expect(renderMarkdown(text, { ...env, light: true })).toMatch(/Ver el dibujo \(SVG, \d kB\)/);
    expect(renderMarkdown(text, { ...env, light: true })).not.toContain("<img");
    expect(await renderSafely(text, "ana")).not.toContain('figure class="drawing"');
  });

  it.each([
    ["four marks", `\`\`\`\`dot\n${code}\n\`\`\`\`\n`],
    ["a numbered list", `1. \`\`\`dot\n   ${code}\n   \`\`\`\n`],
    ["lines that end as Windows has them", `Hola\r\n\r\n\`\`\`dot\r\n${code}\r\n\`\`\`\r\n`],
  ])("finds what the page shows with %s", async (_name, given) => {
    const html = renderMarkdown(given, { drawingsAt: "/dibujo/", drawn: await drawnIn(given, "ana") });
    const key = /\/dibujo\/([0-9a-f]{20})/.exec(html)?.[1];
    expect(drawingsIn(given).map((one) => one.key)).toEqual([key]);
  });

  it("shows no more than are drawn, and those as code", async () => {
    const many = Array.from({ length: 33 }, (_, n) => fence("dot", `digraph { a -> b${n} }`)).join("\n");
    const html = renderMarkdown(many, { drawingsAt: "/dibujo/", drawn: await drawnIn(many, "ana") });
    expect(html.match(/<figure class="drawing">/g)).toHaveLength(30);
    expect(drawingsIn(many, 100)).toHaveLength(33);
  });

  it.each([
    ["in a quotation", `> ${fence("dot", code).trim().replaceAll("\n", "\n> ")}\n\nFin.`, 0],
    ["that is long", fence("dot", `digraph {\n${"a -> b;\n".repeat(2_000)}}`), 0],
    ["with a long line", fence("dot", `digraph { ${"a -> b; ".repeat(400)} }`), 0],
  ])("stays well-formed while code %s grows", (_name, given, pictures) => {
    const stream = new MarkdownStream({ drawingsAt: "/dibujo/" }, { byWord: true });
    let html = "";
    for (let at = 0; at < given.length; at += 7) html += stream.push(given.slice(at, at + 7)).append;
    html += stream.end().append;
    expect(html.match(/<img/g)?.length ?? 0).toBe(pictures);
    for (const tag of ["figure", "blockquote", "pre", "code", "p", "a"]) {
      const count = (pattern: string) => html.match(new RegExp(pattern, "g"))?.length ?? 0;
      expect([tag, count(`<${tag}[ >]`)]).toEqual([tag, count(`</${tag}>`)]);
    }
  });

  it("shows each drawing once its code is complete", async () => {
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
