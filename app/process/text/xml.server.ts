import { Parser } from "htmlparser2";

/** An element of an XML part; names have the prefixes that the standards use. */
export type Element = { name: string; attributes: Attributes; children: (Element | string)[] };
export type Attributes = Record<string, string>;
export type XmlHandler = {
  open?(name: string, attributes: Attributes): void;
  close?(name: string): void;
  text?(text: string): void;
};

// Namespaces of Office Open XML, transitional and strict, and the prefixes that nearly all programs give them.
const usual: [uri: RegExp, prefix: string][] = [
  [/wordprocessingml\/(?:2006\/)?main$/, "w"],
  [/drawingml\/(?:2006\/)?main$/, "a"],
  [/presentationml\/(?:2006\/)?main$/, "p"],
  [/officeDocument\/(?:2006\/)?relationships$/, "r"],
  [/officeDocument\/(?:2006\/)?math$/, "m"],
  [/drawingml\/(?:2006\/)?chart$/, "c"],
  [/drawingml\/(?:2006\/)?diagram$/, "dgm"],
  [/drawingml\/(?:2006\/)?spreadsheetDrawing$/, "xdr"],
  [/spreadsheetml\/(?:2006\/)?main$/, ""],
  // Comments of PowerPoint since 2021.
  [/powerpoint\/2018\/8\/main$/, "p188"],
  [/markup-compatibility\/2006$/, "mc"],
];

/** Parses XML piece by piece. Entities of a document type are not expanded. */
export function parseXml(xml: string, handler: XmlHandler): void {
  const prefixes = otherPrefixes(xml);
  const named = (name: string) => {
    if (prefixes.size === 0) return name;
    const at = name.indexOf(":");
    const prefix = prefixes.get(at < 0 ? "" : name.slice(0, at));
    if (prefix === undefined) return name;
    return `${prefix && `${prefix}:`}${name.slice(at + 1)}`;
  };
  // An attribute without a prefix is in no namespace.
  const renamed = (attributes: Attributes) =>
    prefixes.size === 0
      ? attributes
      : Object.fromEntries(
          Object.entries(attributes).map(([name, value]) => [name.includes(":") ? named(name) : name, value]),
        );
  const parser = new Parser(
    {
      onopentag: (name, attributes) => handler.open?.(named(name), renamed(attributes)),
      onclosetag: (name) => handler.close?.(named(name)),
      ontext: (text) => handler.text?.(text),
    },
    { xmlMode: true },
  );
  parser.end(xml);
}

/** Prefixes that a part uses in place of the usual ones; mostly none. */
function otherPrefixes(xml: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const [, prefix = "", uri = ""] of xml.slice(0, 10_000).matchAll(/\sxmlns(?::([\w.-]+))?="([^"]+)"/g)) {
    const [, known] = usual.find(([pattern]) => pattern.test(uri)) ?? [];
    if (known !== undefined && known !== prefix) found.set(prefix, known);
  }
  return found;
}

/** The whole of a small part as a tree. */
export function treeOf(xml: string): Element {
  const builder = new TreeBuilder("");
  parseXml(xml, builder);
  return builder.root;
}

// Elements below this depth are left out: no document has them, and a tree is walked by recursion.
const deepest = 500;

/** Builds the tree of an element from what a parser says. */
export class TreeBuilder implements Required<XmlHandler> {
  readonly root: Element;
  readonly #open: Element[];

  constructor(name: string) {
    this.root = { name, attributes: {}, children: [] };
    this.#open = [this.root];
  }

  open(name: string, attributes: Attributes): void {
    const element = { name, attributes, children: [] };
    if (this.#open.length < deepest) this.#open.at(-1)?.children.push(element);
    this.#open.push(element);
  }

  close(): void {
    if (this.#open.length > 1) this.#open.pop();
  }

  text(text: string): void {
    this.#open.at(-1)?.children.push(text);
  }
}

/** All elements of this name within an element, in their order. */
export function* elementsIn(element: Element, ...names: string[]): Generator<Element> {
  const open = [...elementsOf(element)].reverse();
  for (let next = open.pop(); next; next = open.pop()) {
    if (names.includes(next.name)) yield next;
    for (const child of elementsOf(next).reverse()) open.push(child);
  }
}

export const firstIn = (element: Element | undefined, name: string): Element | undefined =>
  element && elementsIn(element, name).next().value;

export const elementsOf = ({ children }: Element): Element[] => children.filter((child) => typeof child !== "string");

export function textWithin({ children }: Element): string {
  return children.map((child) => (typeof child === "string" ? child : textWithin(child))).join("");
}
