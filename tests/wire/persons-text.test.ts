import { describe, expect, it } from "vitest";
import { cleanConversationText } from "../../app/api/chats/conversation-text.server.ts";

describe("prose is cleaned", () => {
  it.each([
    ["  hola   qué\t\ttal  ", "hola qué tal"],
    ["uno\n\n\n\ndos", "uno\n\ndos"],
    ["uno\n   \n\t\ndos", "uno\n\ndos"],
    ["\n\n  uno\ndos", "uno\ndos"],
    ["uno  dos\ntres    cuatro", "uno dos\ntres cuatro"],
    ["una\tsola línea\tcon tabuladores", "una sola línea con tabuladores"],
    ["uno\r\ndos\rtres", "uno\ndos\ntres"],
    ["a\0b", "ab"],
    ["", ""],
    [" \n\t\n ", ""],
    ["\u200B\u2060 \uFEFF", ""],
  ])("%j", (text, cleaned) => {
    expect(cleanConversationText(text)).toBe(cleaned);
  });
});

describe("shape stays byte for byte", () => {
  it.each([
    ["YAML", "servicios:\n  web:\n    imagen: nginx   # la de siempre\n    puertos:\n      - 80:80"],
    ["Python", "def f(x):\n    if x:\n        return  1\n    return 2"],
    ["Python with an empty line", "def f(x):\n    y = 1\n\n    return y"],
    ["a diff", "--- a/uno\n+++ b/uno\n@@ -1,3 +1,3 @@\n sin cambio\n-viejo   texto\n+nuevo   texto"],
    ["columns with tabs", "nombre\tedad\nAna\t34\nLuis\t5"],
    ["an ASCII table", "nombre    edad\nAna       34\nLuis      5"],
    ["a table with bars", "| nombre  | edad |\n|---------|------|\n| Ana     | 34   |"],
    ["a tree", "src\n├── a.ts\n│   └── b.ts\n└── c.ts    fin\n    └── d.ts"],
    [
      "stanzas",
      "Caminante, son tus huellas\nel camino y nada más;\n\nCaminante, no hay camino,\nse hace camino al andar.",
    ],
    ["a fence", "Mira:\n```python\nx  =  1\n\n\ny = 2\n```\nEso."],
    ["a fence of tildes", "~~~\na   b\n\n\nc\n~~~"],
    ["a longer fence", "````\n```\na   b\n```\n````"],
    ["a fence in a list", "- uno\n  ```\n  a    b\n\n\n  c\n  ```\n- dos"],
    ["a fence in a quotation", "> ```\n> a    b\n> ```"],
    ["a fence that is not closed", "```\na   b\n\n\nc"],
    ["code marks", "escribe `a   b` y ``c   `  d`` siempre"],
    ["a list", "- uno\n  - dentro\n    - más\n- dos"],
    ["a line of code by itself", "Mira:\n\n    solo  =  1\n\nfin"],
    ["what goes on with an item", "- uno\n\n  continuación  aquí\n- dos"],
    ["an indented beginning", "    a = 1\n    b = 2"],
  ])("%s", (_what, text) => {
    expect(cleanConversationText(text)).toBe(text);
  });

  it("and prose beside it is cleaned", () => {
    const given = "Mira   esto:\n\n\nclave:\n  valor:   1\n\n\nY   luego `a   b`  esto.";
    expect(cleanConversationText(given)).toBe("Mira esto:\n\nclave:\n  valor:   1\n\nY luego `a   b` esto.");
  });
});

it("marks without end cost no more than their length", () => {
  const text = Array.from({ length: 300 }, (_, n) => "`".repeat((n % 90) + 1))
    .join("  x  ")
    .repeat(10);
  expect(cleanConversationText(text).length).toBeLessThanOrEqual(text.length);
  expect(cleanConversationText(cleanConversationText(text))).toBe(cleanConversationText(text));
});
