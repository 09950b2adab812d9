import { expect, it } from "vitest";
import { type WithCalls, WrittenCalls } from "../../app/replies/providers/reading/written-calls.server.ts";

/** What is read of a text that comes in pieces of a length: texts side by side are one. */
function read(text: string, length: number): WithCalls[] {
  const calls = new WrittenCalls(["buscar"]);
  const pieces = Array.from({ length: Math.ceil(text.length / length) }, (_, n) =>
    text.slice(n * length, (n + 1) * length),
  );
  const parts = [...pieces.flatMap((piece) => calls.split(piece)), ...calls.rest()];
  return parts.reduce<WithCalls[]>((all, part) => {
    const last = all.at(-1);
    if ("text" in part && last && "text" in last) last.text += part.text;
    else if (!("text" in part) || part.text) all.push({ ...part });
    return all;
  }, []);
}
const call = (input: object) => ({ name: "buscar", input: JSON.stringify(input) });

it.each<[string, string, WithCalls[]]>([
  [
    "Qwen's and Hermes'",
    'Miro.\n<tool_call>\n{"name": "buscar", "arguments": {"q": "habas"}}\n</tool_call>\nYa.',
    [{ text: "Miro.\n" }, call({ q: "habas" }), { text: "\nYa." }],
  ],
  ["one without its end", '<tool_call>{"name":"buscar","arguments":{"q":1}}', [call({ q: 1 })]],
  ["Llama's", '<function=buscar>{"q":"habas"}</function>', [{ name: "buscar", input: '{"q":"habas"}' }]],
  [
    "Qwen Coder's",
    "<tool_call>\n<function=buscar>\n<parameter=q>\nhabas <b>\n</parameter>\n<parameter=n>\n3\n</parameter>\n</function>\n</tool_call>",
    [call({ q: "habas <b>", n: 3 })],
  ],
])("takes out a call written as %s, however it comes", (_, text, parts) => {
  for (const length of [1, 2, 7, text.length]) expect(read(text, length)).toEqual(parts);
});

it.each([
  ["a tool that was not offered", '<tool_call>{"name":"borrar","arguments":{}}</tool_call>'],
  ["code", '```xml\n<tool_call>{"name":"buscar","arguments":{}}</tool_call>\n```'],
  ["code in a list", '1. Así:\n\n   ```xml\n   <tool_call>{"name":"buscar"}</tool_call>\n   ```\n'],
  ["code in a longer fence", '````\n```\n<tool_call>{"name":"buscar"}</tool_call>\n```\n````\n'],
  ["indented code", 'Así:\n\n    <tool_call>{"name":"buscar"}</tool_call>\n'],
  ["a call that was cut", "<function=buscar>\n<parameter=q>habas</parameter>\n<parameter=n>\nprimera mit"],
  ["the middle of a line", 'Escribe <tool_call>{"name":"buscar"}</tool_call>'],
  ["something broken", "<tool_call>buscar</tool_call> y <function=> < <t"],
])("leaves text as it is: %s", (_, text) => {
  for (const length of [1, 3, text.length]) expect(read(text, length)).toEqual([{ text }]);
});
