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

function feed(parts: string[]): { appended: string; closed: string; states: string[] } {
  const stream = new MarkdownStream();
  const steps = [...parts.map((part) => stream.push(part)), stream.end()];
  return {
    appended: steps.map(({ append }) => append).join(""),
    closed: steps.flatMap(({ closed }) => closed).join(""),
    states: steps.map(({ open }) => JSON.stringify(open)),
  };
}

const shown = (html: string) => html.replace(/<[^>]*>|\s+/g, "");

describe.each(cuts)("Markdown that arrives %s", (_name, cut) => {
  it.each(documents)("closes blocks that are the whole: %j", (text) => {
    const lines = (html: string) => html.replace(/\s+/g, " ").trim();
    expect(lines(feed(cut(text)).closed)).toBe(lines(renderMarkdown(text)));
  });

  it.each(documents)("shows every word once in a document that only grows: %j", (text) => {
    expect(shown(feed(cut(text)).appended)).toBe(shown(renderMarkdown(text)));
  });

  it.each(documents)("leaves no tag open: %j", (text) => {
    const open: string[] = [];
    for (const [, slash, name = ""] of feed(cut(text)).appended.matchAll(/<(\/?)([a-z0-9]+)[^>]*>/g)) {
      if (slash) expect(open.pop()).toBe(name);
      else if (name !== "br" && name !== "hr") open.push(name);
    }
    expect(open).toEqual([]);
  });

  it.each(hostile)("never becomes a script: %j", (text) => {
    const { appended, closed } = feed(cut(text));
    expect(appended + closed).not.toMatch(
      /<script|<img|<iframe|<[^>]* on\w+=|href="\s*(javascript|data|vbscript):|<[^>]* style="/i,
    );
  });
});

describe("the state of a stream", () => {
  it.each(documents)("depends on the text alone, not on how it was cut: %j", (text) => {
    const half = Math.floor(text.length / 2);
    const one = new MarkdownStream();
    const many = new MarkdownStream();
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
  ])("goes on as it has begun, where its beginning belongs to %s", (_what, text, expected) => {
    expect(heldAfter(text).startsWith(expected)).toBe(true);
  });

  it("of emphasis over two sentences is nothing", () => {
    expect(heldAfter("**Ojo: la primera. La segunda.** Y")).toBe(
      "<p><strong>Ojo:</strong> <strong>la primera.</strong> <strong>La segunda.</strong>",
    );
  });
});
