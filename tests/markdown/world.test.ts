import { describe, expect, it } from "vitest";
import { renderMarkdown } from "../../app/markdown/render.server.ts";
import { MarkdownStream } from "../../app/markdown/stream.server.ts";

const html = (source: string) => renderMarkdown(source);
const textOf = (source: string) =>
  html(source)
    .replace(/<[^>]*>/g, "")
    .trim();

describe("nothing that was written is lost", () => {
  it.each<[string, string, string[]]>([
    [
      "a dialogue",
      "Diálogo:\n\n[Ana]: Hola\n\n[Luis]: Adiós\n\n[Ana]: ¿Qué tal?",
      ["[Ana]: Hola", "[Luis]: Adiós", "[Ana]: ¿Qué tal?"],
    ],
    ["a list of sources", "Fuentes:\n\n[1]: https://e.es/a\n[2]: https://e.es/b", ["[1]: <a", "https://e.es/b</a>"]],
    ["a bar in the code of a table", "|a|b|\n|-|-|\n|`x | y`|o|", ["<code>x | y</code>", "<td>o</td>"]],
    ["a bar in a formula of a table", "|a|b|\n|-|-|\n|\\(P(A|B)\\)|1|", ["<math", "<td>1</td>"]],
    ["a percentage in a formula", "$x = 50% \\cdot y$", ["%", "<mi>y</mi>"]],
    ["signs of multiplication", "2*3*4 = 24 y a*b*c", ["2*3*4 = 24", "a*b*c"]],
    ["a comparison in a list", "- > 65 años\n- < 18 años", ["&gt; 65 años", "&lt; 18 años"]],
  ])("%s", (_what, source, parts) => {
    for (const part of parts) expect(html(source)).toContain(part);
  });

  it("keeps definitions of links that the text uses", () => {
    expect(html("Mira [esto][1].\n\n[1]: https://e.es/a")).toBe(
      '<p>Mira <a href="https://e.es/a" rel="nofollow noopener noreferrer">esto</a>.</p>\n',
    );
  });

  it("keeps the fences within a text of Markdown together", () => {
    const shown = html("```markdown\n# Plan\n\n```text\nHECHO\n```\n\n## Notas\n```\n\nFin.");
    expect(shown.match(/<figure/g)).toHaveLength(1);
    expect(shown).toContain("<p>Fin.</p>");
    expect(html("```markdown\n# Plan\n```\n\nFin.")).toContain("<p>Fin.</p>");
  });
});

describe("formulas", () => {
  it("keep the lines that mean something, without styles", () => {
    const shown = html(
      "$$\\boxed{\\overline{AB}} \\left[\\begin{array}{c|c}1&2\\end{array}\\right] \\textcolor{red}{x} \\begin{array}{c}1\\\\ \\hline 2\\end{array}$$",
    );
    expect(shown).not.toContain(" style=");
    for (const part of ["boxed", "tml-overline", "line-right", "line-bottom"]) expect(shown).toContain(part);
  });

  it.each(["$ \\frac{a}{b} $", "$ x^2 $", "\\begin{align*}\na &= b \\\\\nc &= d\n\\end{align*}", "$\\sen x$"])(
    "takes %j",
    (source) => {
      expect(html(source)).toContain("<math");
      expect(html(source)).not.toContain("merror");
    },
  );

  it("shows a broken one as its source, without words of the library", () => {
    expect(html("$\\frac{1}{2$")).not.toMatch(/ParseError|Expected/i);
  });

  it.each(["cuesta $ 5 y $10", "usa $ echo y $HOME"])("leaves %j a text", (source) => {
    expect(html(source)).not.toContain("<math");
  });
});

it("breaks lines where they were broken", () => {
  expect(html("Calle Mayor 1\n28001 Madrid").match(/<br>/g)).toHaveLength(1);
  expect(renderMarkdown("Una página\nlarga", { page: true })).not.toContain("<br>");
});

it.each([
  ["[la web](www.ejemplo.es)", 'href="https://www.ejemplo.es"'],
  ["H<sub>2</sub>O y x<sup>2</sup>", "<p>H<sub>2</sub>O y x<sup>2</sup></p>"],
  ["<sub onclick=x>2</sub>", "&lt;sub onclick=x&gt;"],
  ["Uno<br>dos", "Uno<br>"],
  ["含**「重点」**内容", "<strong>「重点」</strong>"],
])("shows %j well", (source, part) => {
  expect(html(source)).toContain(part);
});

it.each(["[x](sandbox:/mnt/data/a.xlsx)", "[x](a/b.md)", "[x](#introducción)"])(
  "makes no link of %j, which leads nowhere",
  (source) => {
    expect(html(source)).not.toContain("href");
    expect(textOf(source)).toBe("x");
  },
);

it("leaves code in lists as it is", () => {
  const source = "- ```md\n  [a]: b\n  ```\n\n```md\n[a]: b\n- > 5\n```\n";
  expect(html(source).match(/(?<!\\)\[a\]: b/g)).toHaveLength(2);
});

it("makes one link of a picture within a link", () => {
  expect(html("[![Estado](https://e.es/b.svg)](https://e.es/destino)").match(/<a /g)).toHaveLength(1);
});

it.each([
  ["**✅ Ventajas:** es rápido.\n\nOtra.", "<strong>✅ Ventajas:</strong>"],
  ["Son **$100 al mes** en total. Y más.", "<strong>$100 al mes</strong>"],
  ["- **👉 Uno:** texto\n- **Dos:** texto\n", "<strong>👉 Uno:</strong>"],
  ["**[Enlace](https://e.es) con** algo. Más.", "</a> con</strong>"],
  ["Diálogo:\n\n[Ana]: Hola\n\n[Luis]: Adiós\n", "[Luis]: Adiós"],
  ["Fuentes:\n\n[1]: https://e.es/a\n[2]: https://e.es/b\n", "e.es/b</a>"],
])("shows %j as it grows", (source, part) => {
  const stream = new MarkdownStream({}, { byWord: true });
  let grown = "";
  for (const letter of source) grown += stream.push(letter).append;
  grown += stream.end().append;
  expect(grown).toContain(part);
  expect(grown).not.toContain("**");
});
