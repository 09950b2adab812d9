import { Parser } from "expr-eval-fork";
import type { OwnTool } from "../tool.server.ts";
import { ToolRefused } from "../tool.server.ts";
import { fieldText } from "./field-text.server.ts";

// In characters: longer than any sum that people write. A text of this length takes less than a millisecond to evaluate.
const longest = 400;

// No variables, no functions of our own, no lists: no expression can run for long.
const parser = new Parser({
  operators: { assignment: false, concatenate: false, conditional: false, logical: false, in: false },
});
for (const name of ["random", "map", "fold", "filter", "indexOf", "join", "if", "gamma", "sum"]) {
  delete parser.functions[name];
}

/** The value of an arithmetical expression, as text with a decimal point. Throws ToolRefused. */
export function calculate(expression: string): string {
  if (expression.length > longest) throw new ToolRefused("La cuenta es demasiado larga.");
  const plain = expression
    .replaceAll("×", "*")
    .replaceAll("·", "*")
    .replaceAll("÷", "/")
    .replaceAll("−", "-")
    .replaceAll("**", "^")
    .replace(/(\d+(?:\.\d+)?)\s*%(?!\s*[\d(])/g, "($1/100)");
  // The library splits sums at a semicolon, and gives the result of the last one.
  if (plain.includes(";")) throw new ToolRefused("Cada cuenta va en una llamada aparte.");
  let value: unknown;
  try {
    value = parser.evaluate(plain);
  } catch {
    throw new ToolRefused(`«${expression}» no es una cuenta que se pueda hacer.`);
  }
  if (typeof value !== "number" || Number.isNaN(value)) throw new ToolRefused("Esa cuenta no da un número.");
  if (!Number.isFinite(value))
    throw new ToolRefused("El resultado no es un número finito: ¿hay una división entre cero?");
  // Fifteen digits are what a double holds: 0.1 + 0.2 is 0.3.
  return String(Number(value.toPrecision(15)));
}

/** «Calcular». */
export const sums: OwnTool = {
  tool: "calcular",
  label: "Calcular",
  description:
    "Hace una cuenta exacta y devuelve el resultado. Entiende + - * / ^ %, paréntesis y funciones como sqrt, abs, round, floor, ceil, min, max, log, ln, exp, sin, cos y tan (en radianes), PI y E. Los decimales se escriben con punto.",
  schema: {
    type: "object",
    properties: { cuenta: { type: "string", title: "Cuenta", description: "La cuenta, como (12.5 + 3) * 4" } },
    required: ["cuenta"],
  },
  reachesOut: false,
  async call({ cuenta }) {
    const sum = fieldText(cuenta);
    return { text: `${sum} = ${calculate(sum)}` };
  },
};
