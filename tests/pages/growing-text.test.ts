import { expect, it } from "vitest";
import { GrowingText } from "../../app/routes/conversation/stream/growing-text.server.ts";

/** Plain text that a browser with a script was told to add, once this has come letter by letter. */
async function shownPlain(text: string): Promise<string> {
  const growing = new GrowingText("m", 0);
  let plain = "";
  for (const letter of text) {
    for await (const { name, data } of growing.add(letter)) plain = name === "text" ? plain + data : data.rest;
  }
  return plain;
}

it.each([
  "Una frase sin fin",
  "¿Y si empieza con una pregunta",
  "«Una cita» que sigue",
  "Un auto-servicio, 2 + 2 = 4, C# y 3 > 2, medio-día",
])("is shown at once: %s", async (text) => {
  expect(await shownPlain(text)).toBe(text);
});

it.each([
  "- un punto",
  "1. un punto",
  "> una cita",
  "# un título",
  "Un *énfasis",
  "Mira https://ejemplo",
  "Un `código",
])("waits for what may make it something else: %s", async (text) => {
  expect(await shownPlain(text)).toBe("");
});

it.each([
  ["```py\ndef f(x):\n    return {", "    return {"],
  ["```\na = 1\nb = [", "b = ["],
  ["```js\nif (a) {\n}\n``", ""],
])("shows a line of code as it is written, but no beginning of its end: %j", async (text, line) => {
  expect(await shownPlain(text)).toBe(line);
});
