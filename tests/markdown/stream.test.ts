import { describe, expect, it } from "vitest";
import { renderMarkdown } from "../../app/markdown/render.server.ts";
import { MarkdownStream } from "../../app/markdown/stream.server.ts";
import { documents, hostile } from "./documents.ts";

type Cut = [name: string, cut: (text: string) => string[]];
const cuts: Cut[] = [
  ["by character", (text) => [...text]],
  ["by word", (text) => text.split(/(?<=\s)/)],
  ["in sevens", (text) => text.match(/[\s\S]{1,7}/g) ?? []],
  ["whole", (text) => [text]],
];

function feed(parts: string[], byWord = false): { appended: string; closed: string; states: string[] } {
  const stream = new MarkdownStream({}, { byWord });
  const steps = [...parts.map((part) => stream.push(part)), stream.end()];
  return {
    appended: steps.map(({ append }) => append).join(""),
    closed: steps.flatMap(({ closed }) => closed).join(""),
    states: steps.map(({ open }) => JSON.stringify(open)),
  };
}

const shown = (html: string) => html.replace(/<[^>]*>|\s+/g, "");

const modes = cuts.flatMap(([name, cut]) => [[name, "sentence", cut] as const, [name, "word", cut] as const]);
describe.each(modes)("Markdown that arrives %s and is shown by %s", (_name, by, cutUp) => {
  const shownBy = (text: string) => feed(cutUp(text), by === "word");

  it.each(documents)("closes blocks that are the whole: %j", (text) => {
    const lines = (html: string) => html.replace(/\s+/g, " ").trim();
    expect(lines(shownBy(text).closed)).toBe(lines(renderMarkdown(text)));
  });

  it.each(documents)("shows every word once while the document grows: %j", (text) => {
    expect(shown(shownBy(text).appended)).toBe(shown(renderMarkdown(text)));
  });

  it.each(documents)("leaves no tag open: %j", (text) => {
    const open: string[] = [];
    for (const [, slash, name = ""] of shownBy(text).appended.matchAll(/<(\/?)([a-z0-9]+)[^>]*>/g)) {
      if (slash) expect(open.pop()).toBe(name);
      else if (name !== "br" && name !== "hr") open.push(name);
    }
    expect(open).toEqual([]);
  });

  it.each(hostile)("never becomes a script: %j", (text) => {
    const { appended, closed } = shownBy(text);
    expect(appended + closed).not.toMatch(
      /<script|<img|<iframe|<[^>]* on\w+=|href="\s*(javascript|data|vbscript):|<[^>]* style="/i,
    );
  });
});

describe.each([false, true])("the state of a stream (by word: %j)", (byWord) => {
  it.each(documents)("depends only on the text, not its chunks: %j", (text) => {
    const half = Math.floor(text.length / 2);
    const one = new MarkdownStream({}, { byWord });
    const many = new MarkdownStream({}, { byWord });
    const whole = one.push(text.slice(0, half)).open;
    let last = whole;
    for (const part of text.slice(0, half)) last = many.push(part).open;
    expect(last).toEqual(whole);
  });
});

describe("what is held back", () => {
  const heldAfter = (text: string): string => {
    const stream = new MarkdownStream();
    let appended = "";
    for (const part of text) appended += stream.push(part).append;
    return appended;
  };

  it.each([
    ["a sentence of a paragraph", "Primera frase. Segunda sin aca", "Primera frase.", "Segunda"],
    ["a sentence after bold", "**Uno**: la primera. La seg", "la primera.", "La seg"],
    ["a line of code", "```js\nconst a = 1;\nconst b", "const", "const b"],
    ["a row of a table", "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 |", "<td>2</td>", "<td>3"],
    ["an item of a list", "- uno\n- dos\n- tre", "uno", "dos"],
    ["an item of an inner list", "- uno\n  - dos\n  - tres\n  - cua", "dos", "tres"],
    ["a line of a quote", "> una cita\n> que si", "una cita", "que si"],
    ["nothing of a heading", "# Un título\n", "Un título</h3>", "#"],
  ])("is at most %s", (_what, text, there, notYet) => {
    const html = heldAfter(text);
    expect(html).toContain(there);
    expect(html).not.toContain(notYet);
  });

  it.each([
    ["a heading after all", "Uno. Dos\n---\n\nTres.", "<p>Uno. Dos</p>"],
    ["a table after all", "Uno. Dos | tres\n|---|---|\n| a | b |\n", "<p>Uno.</p><section"],
  ])("keeps the shown beginning when the text becomes %s", (_what, text, expected) => {
    expect(heldAfter(text).startsWith(expected)).toBe(true);
  });

  it("of emphasis over two sentences is nothing", () => {
    expect(heldAfter("**Ojo: la primera. La segunda.** Y")).toBe(
      "<p><strong>Ojo:</strong> <strong>la primera.</strong> <strong>La segunda.</strong>",
    );
  });
});

describe("a document that grows by words", () => {
  const appendsOf = (parts: string[]): string[] => {
    const stream = new MarkdownStream({}, { byWord: true });
    return parts.map((part) => stream.push(part).append).filter(Boolean);
  };
  const appends = (text: string) => appendsOf([...text]);

  it.each([
    ["an unfinished sentence", "Una frase que no se ac", "Una frase que no se", " ac"],
    ["a sentence up to an open mark", "Mira esto: **muy importante y m", "Mira esto:", "muy"],
    ["a sentence after a closed mark", "Mira: **muy importante** y m", "<strong>muy importante</strong> y", " m"],
    ["a sentence up to an open link", "Está en [la página](https://ej", "Está en", "la p"],
    ["a sentence up to open code", "Escribe `npm start y es", "Escribe", "npm"],
    ["a sentence up to an open formula", "Sale $x + y de l", "Sale", "x +"],
    ["an item of a list", "- uno\n- dos y tr", "<li>dos y", " tr"],
    ["the first item of a list", "1. Primero de tod", "<li>Primero de", " tod"],
    ["an item of an inner list", "- uno\n  - dentro de es", "<li>dentro de", " es"],
  ])("shows %s", (_what, text, there, notYet) => {
    const html = appends(text).join("");
    expect(html).toContain(there);
    expect(html).not.toContain(notYet);
  });

  it.each([
    ["a line that may be the head of a table", "Fruta | Kilos por ca"],
    ["a row of a table", "| Fruta | Kilos por ca"],
    ["a heading", "## Un título de los lar"],
  ])("holds back %s", (_what, text) => {
    expect(appends(text).join("")).toBe("");
  });

  const words = Array.from({ length: 120 }, (_, n) => `palabra${n}`).join(" ");
  it.each([
    ["by character", [...words]],
    ["by word, each after its blank", words.split(/(?= )/)],
    ["by word, each before its blank", words.split(/(?<= )/)],
  ])("grows with most words of a text without any sentence's end that arrives %s", (_how, parts) => {
    expect(appendsOf(parts).length).toBeGreaterThan(100);
  });
});
