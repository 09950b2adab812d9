import { inflateSync } from "node:zlib";
import { type Element, elementsIn, elementsOf, firstIn, textWithin, treeOf } from "../../../process/text/xml.server.ts";

// Of a file, and in bytes of one stream: a form keeps its answers in one.
const streamsAtMost = 2_000;
const streamAtMost = 8 * 1024 * 1024;
const linesAtMost = 5_000;

/** Text that a form prints, without a label, or an answer with the label of its field. */
type FormLine = { label: string; text: string };

/**
 * Text and answers of an XFA form (Adobe XML Forms Architecture 3.3), in the order of its template. The file has both in streams of XML,
 * which pdf.js does not give. Empty if nothing is answered, as in an encrypted file.
 */
export function linesOfXfa(bytes: Uint8Array): FormLine[] {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let template: Element | undefined;
  let data: Element | undefined;
  let at = 0;
  for (let n = 0; n < streamsAtMost; n++) {
    const from = file.indexOf("stream", at);
    if (from < 0) break;
    const end = file.indexOf("endstream", from + 6);
    if (end < 0) break;
    at = end + 9;
    const xml = textOf(file.subarray(from + 6, end));
    if (!xml.includes("<xfa:data") && !xml.includes("<template")) continue;
    const tree = treeOf(xml);
    template ??= firstIn(tree, "template");
    data ??= firstIn(tree, "xfa:data");
  }
  const answers = data ? answersIn(data) : [];
  if (answers.length === 0) return [];
  return filledIn(template, answers).slice(0, linesAtMost);
}

/** Lines of a template with its answers, each at its field; then answers that the template has no field for, such as further rows. */
function filledIn(template: Element | undefined, answers: Answer[]): FormLine[] {
  const lines: FormLine[] = [];
  const left = Map.groupBy(answers, ({ name }) => name);
  const labels = new Map<string, string>();
  const shown = template ? [...elementsIn(template, "draw", "field")].filter(isShown) : [];
  for (const element of shown) {
    const label = element.name === "field" ? valueIn(firstIn(element, "caption")) : "";
    const { name = "" } = element.attributes;
    if (element.name === "draw") lines.push({ label: "", text: valueIn(element) });
    else {
      if (label) labels.set(name, label.replace(/[\s:.…]{1,20}$/u, ""));
      const answer = left.get(name)?.shift();
      if (answer) lines.push({ label: labels.get(name) ?? wordsOf(name), text: shownAs(answer.text, element) });
    }
  }
  const others = [...left.values()]
    .flat()
    .map(({ name, text }) => ({ label: labels.get(name) ?? wordsOf(name), text }));
  return [...lines, ...others].filter(({ text }) => text !== "");
}

const isShown = ({ attributes: { presence } }: Element) => presence === undefined || presence === "visible";

/** An answer as its field shows it: a number is kept with a decimal point, a choice by its code. */
function shownAs(text: string, field: Element): string {
  if (firstIn(field, "numericEdit") && /^-?\d+\.\d+$/.test(text)) return text.replace(".", ",");
  const lists = elementsOf(field).filter(({ name }) => name === "items");
  const codes = lists.find(({ attributes }) => attributes.save === "1");
  const names = lists.find((one) => one !== codes);
  const at = codes ? elementsOf(codes).findIndex((code) => textWithin(code).trim() === text) : -1;
  const chosen = names && elementsOf(names)[at];
  return chosen ? textWithin(chosen).trim() : text;
}

const valueIn = (element: Element | undefined) => {
  const value = element && firstIn(element, "value");
  return value ? textWithin(value).replace(/\s+/g, " ").trim() : "";
};

/** Text of a stream, which is packed or not; empty if it is no text. */
function textOf(stream: Buffer): string {
  // The line that ends the word before it.
  const content = stream.subarray(stream[0] === 13 ? 2 : 1);
  if (content.length > streamAtMost) return "";
  if (/^(?:\xef\xbb\xbf)?\s*</.test(content.toString("latin1", 0, 200))) return content.toString("utf8");
  try {
    return inflateSync(content, { maxOutputLength: streamAtMost }).toString("utf8");
  } catch {
    return "";
  }
}

type Answer = { name: string; text: string };

function answersIn(element: Element): Answer[] {
  return elementsOf(element).flatMap((child) => {
    if (elementsOf(child).length > 0) return answersIn(child);
    const text = textWithin(child).replace(/\s+/g, " ").trim();
    return text ? [{ name: child.name.replace(/^.*:/, ""), text }] : [];
  });
}

/** «nombreYApellidos» and «nombre_y_apellidos» as words. */
const wordsOf = (name: string) =>
  name
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .replace(/_+/g, " ")
    .trim();
