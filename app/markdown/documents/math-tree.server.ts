import { Parser } from "htmlparser2";

export type MathElement = { name: string; children: (MathElement | string)[] };

/** MathML as a tree. */
export function mathTree(mathml: string): MathElement {
  const root: MathElement = { name: "", children: [] };
  const open = [root];
  const parser = new Parser(
    {
      onopentag(name) {
        const element = { name, children: [] };
        open.at(-1)?.children.push(element);
        open.push(element);
      },
      onclosetag: () => void open.pop(),
      ontext: (text) => void open.at(-1)?.children.push(text),
    },
    { xmlMode: true },
  );
  parser.end(mathml);
  return root;
}

export const elementsOf = ({ children }: MathElement): MathElement[] =>
  children.filter((child) => typeof child !== "string");

export const textOf = ({ children }: MathElement): string =>
  children.map((child) => (typeof child === "string" ? child : textOf(child))).join("");
