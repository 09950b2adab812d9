import { describe, expect, it } from "vitest";
import { renderMarkdown } from "../../app/markdown/render.server.ts";
import { MarkdownStream } from "../../app/markdown/stream.server.ts";

const html = (source: string) => renderMarkdown(source, { docId: "m" });
const formulas = (source: string) => [...html(source).matchAll(/<math/g)].length;
const displayed = (source: string) => [...html(source).matchAll(/display="block"/g)].length;

describe("prices, shells and paths are no formulas", () => {
  it.each([
    "cuesta 5$, el otro 10$",
    "cuesta 5$ y el otro 10$.",
    "US$10, y R$5",
    "entre $5 y $10",
    "$5 (o 6$ si es grande)",
    "echo $PATH y $HOME",
    "$HOME/bin:$PATH",
    "cp $A/$B $C",
    "son 20$/mes, o 200$/año",
    "de 3$–5$ cada uno",
    "$ 5 y $ 6",
    "$20,000 and $30,000",
    "vale $$ mucho $$ aquí",
    "usa a$_POST$b, v$_session$, Foo$_Bar$Baz, x$HOME$y y 5$a$6",
    "\\$5 y $6",
  ])("%s", (source) => {
    expect(formulas(source)).toBe(0);
    expect(
      html(source)
        .replace(/<[^>]+>/g, "")
        .trim(),
    ).toBe(source.replaceAll("\\$", "$"));
  });
});

describe("formulas are formulas", () => {
  it.each([
    ["la suma $a^2 + b^2$ es", 1, 0],
    ["$x$, $y$ y $z$.", 3, 0],
    ["el $n$-ésimo", 1, 0],
    ["CO$_2$, H$_{2}$SO$_{4}$, 25$^\\circ$C, 10$\\mu$m, 5$\\Omega$, m$^2$ y v$_{\\text{máx}}$", 8, 0],
    ["($x_1$)", 1, 0],
    ["cuesta 5$ y $x^2$ es", 1, 0],
    ["así: $$x^2 + 1$$ y sigue", 1, 1],
    ["$$x^2$$ es la suma", 1, 1],
    ["así: \\[x^2 + 1\\] y sigue", 1, 1],
    ["y \\(x + y\\) también", 1, 0],
    ["- uno $$x^2$$\n- dos \\[y^2\\]", 2, 2],
    ["$$\nx^2\n$$", 1, 1],
    ["$$x^2$$", 1, 1],
    ["\\[\nx^2\n\\]", 1, 1],
    ["- uno\n\n  $$\n  x^2\n  $$", 1, 1],
    ["$$x^2 +\ny^2$$", 1, 1],
  ])("%s", (source, all, alone) => {
    expect(formulas(source)).toBe(all);
    expect(displayed(source)).toBe(alone);
  });

  it("a sentence that follows is not swallowed", () => {
    expect(html("$$x^2$$ es la suma\n\nOtro párrafo.")).toContain("<p>Otro párrafo.</p>");
    expect(html("\\[1\\] y \\[2\\] son notas")).toContain("[1] y [2] son notas");
  });
});

it("a notice of GitHub's is headed by a word", () => {
  expect(html("> [!warning]\n> Quema.")).toMatch(/<blockquote>\s*<p[^>]*><strong>Aviso<\/strong><br>\s*Quema\./);
  expect(html("> [!WARNING] no")).toContain("[!WARNING] no");
});

describe("lists under numbered items", () => {
  const shape = (source: string) =>
    html(source)
      .replace(/<p>|<\/p>|\n/g, "")
      .replace(/ [a-z-]+="[^"]*"/g, "");
  it.each([
    [
      "1. Uno\n  1. a\n  2. b\n2. Dos\n  - c\n    - d\n3. Tres",
      "<ol><li>Uno<ol><li>a</li><li>b</li></ol></li><li>Dos<ul><li>c<ul><li>d</li></ul></li></ul></li><li>Tres</li></ol>",
    ],
    ["1. Uno\n\n  - a\n\n2. Dos", "<ol><li>Uno<ul><li>a</li></ul></li><li>Dos</li></ol>"],
    ["10. Diez\n  - a\n   más\n11. Once", "<ol><li>Diez<ul><li>a<br>más</li></ul></li><li>Once</li></ol>"],
    ["1. Uno\n   - a\n2. Dos", "<ol><li>Uno<ul><li>a</li></ul></li><li>Dos</li></ol>"],
    ["1. Uno\n  2. Dos\n  3. Tres", "<ol><li>Uno</li><li>Dos</li><li>Tres</li></ol>"],
    [
      "1. ```\n   npm i\n   ```\n2. Luego\n  - a\n3. Fin",
      "<ol><li><figure><pre><code>npm i</code></pre></figure></li><li>Luego<ul><li>a</li></ul></li><li>Fin</li></ol>",
    ],
    [
      "    ```\n\n1. Uno\n  - a\n2. Dos",
      "<figure><pre><code>```</code></pre></figure><ol><li>Uno<ul><li>a</li></ul></li><li>Dos</li></ol>",
    ],
    ["1. Uno\n  - a\n\t- b", "<ol><li>Uno<ul><li>a<ul><li>b</li></ul></li></ul></li></ol>"],
    ["- Uno\n  - a", "<ul><li>Uno<ul><li>a</li></ul></li></ul>"],
  ])("%j", (source, made) => {
    expect(shape(source)).toBe(made);
  });

  it.each([
    ["```\n1. Uno\n  - a\n```", "1. Uno\n  - a"],
    [
      "1. X:\n\n  ```yaml\n  steps:\n  - run: y\n  env:\n    CI: true\n  ```\n2. Y",
      "steps:\n- run: y\nenv:\n  CI: true",
    ],
    ["1. X:\n  - a\n\n    ```\n    - b\n      c\n    ```", "- b\n  c"],
    ["- ```sh\n  npm i\n  ```\n\nTexto:\n\n```\n1. a\n  - b\n```", "1. a\n  - b"],
    ["```npm i``` instala.\n\n```\n1. Uno\n  - a\n```", "1. Uno\n  - a"],
    ["1. Uno\n  - ```sh\n    npm i\n      otro\n    ```\n2. Dos", "npm i\n  otro"],
  ])("leaves code as it is: %j", (source, code) => {
    expect(html(source).replace(/<\/?span[^>]*>/g, "")).toContain(code);
  });
});

describe("tables", () => {
  const table = (cell: string) => html(`| a | b |\n|---|---|\n| ${cell} | fin |`);
  it("keep bars inside formulas, and non-formulas in their cells", () => {
    expect(table("$|x|$")).toContain("<math");
    expect(table("$|x|$").match(/<td/g)).toHaveLength(2);
    expect(table("5$ | 6$").match(/<td/g)).toHaveLength(2);
    expect(table("$P(A|B)$").match(/<td/g)).toHaveLength(2);
  });
  it("break lines at <br>, and show HTML that has no mark here", () => {
    expect(table("uno<br>dos<br/>tres<br />**cuatro**").match(/<br>/g)).toHaveLength(3);
    expect(table("uno<b>dos")).toContain("&lt;b&gt;");
    expect(html("uno<b>dos")).toContain("&lt;b&gt;");
  });
});

describe("emphasis as people and models write it", () => {
  it.each([
    ["**Nota:**texto", "<strong>Nota:</strong>texto"],
    ["**Nota:** texto", "<strong>Nota:</strong> texto"],
    ["dice**«hola»**y", "dice<strong>«hola»</strong>y"],
    ["**«Cita»**, dijo", "<strong>«Cita»</strong>, dijo"],
    ["es**(muy)**grande", "es<strong>(muy)</strong>grande"],
    ["2 * 3 * 4", "2 * 3 * 4"],
    ["3*(4+5)*2", "3*(4+5)*2"],
    ["f(*args, **kwargs)", "f(*args, **kwargs)"],
    ["precio*: 5 y otro* 6", "precio*: 5 y otro* 6"],
  ])("%s", (source, made) => {
    expect(html(source)).toBe(`<p>${made}</p>\n`);
  });
});

describe("footnotes", () => {
  const source = "Uno[^1] y dos[^nota].\n\n[^1]: La primera.\n[^nota]: La segunda,\n    con dos líneas.";
  it("stand at the end with links unique to the message", () => {
    const made = html(source);
    expect(made).toContain('href="#nota-m-1"');
    expect(made).toContain('<li id="nota-m-2">');
    expect(made).toContain('href="#llamada-m-1"');
    expect(made).toContain("La primera.");
    expect(made).toContain("con dos líneas.");
  });
  it("are not lost while they grow", () => {
    const stream = new MarkdownStream({ docId: "m" });
    let shown = "";
    for (const piece of source.match(/[\s\S]{1,7}/g) ?? []) shown += stream.push(piece).append;
    shown += stream.end().append;
    for (const text of ["Uno", "dos", "La primera.", "La segunda,"]) expect(shown).toContain(text);
  });
  it("that are only an address are shown while they grow", () => {
    const stream = new MarkdownStream();
    const shown = stream.push("Dato[^1].\n\n[^1]: https://e.es/informe\n[^2]: Anual.\n\n").append + stream.end().append;
    expect(shown).toContain("https://e.es/informe");
    expect(shown).toContain("Anual.");
  });
  it("that nothing refers to stay where they stand", () => {
    expect(html("[^1]: Nadie me llama.\n\nFin.")).toContain("Nadie me llama.");
  });
  it("without a note stay text", () => {
    expect(html("Uno[^1] y 10^[2]")).toBe("<p>Uno[^1] y 10^[2]</p>\n");
  });
});

describe("while it grows", () => {
  it.each([
    [
      "a link with a title",
      'Mira [esto](https://e.es "Un título. Con frases. Y más") y ya. Fin.',
      '<a href="https://e.es"',
    ],
    ["a formula of its own line in a sentence", "Es $$x. y. z = 1$$ y ya. Fin.", "<math"],
  ])("%s is held back until it is whole", (_what, source, whole) => {
    const stream = new MarkdownStream();
    let shown = "";
    for (const letter of source) {
      shown += stream.push(letter).append;
      expect(shown).not.toMatch(/\]\(|\$\$/);
    }
    shown += stream.end().append;
    expect(shown).toContain(whole);
  });
});

describe("brackets that are escaped", () => {
  it.each([
    ["in the words of a link", "[\\[PDF\\] Bases](https://e.es/b.pdf)", ">[PDF] Bases</a>"],
    ["behind a name", "El valor arr\\[i\\] crece", "arr[i] crece"],
  ])("are no formula %s", (_, source, shown) => {
    expect(html(source)).toContain(shown);
    expect(formulas(source)).toBe(0);
  });
});
