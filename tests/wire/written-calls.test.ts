import { expect, it } from "vitest";
import { WrittenCalls } from "../../app/replies/providers/reading/written-calls.server.ts";

type Read = { text: string } | { name: string; input: string };

/** What is read of a text that comes in pieces of a length: texts side by side are one. */
function read(text: string, length: number): Read[] {
  const calls = new WrittenCalls(["buscar"], (_, parameter) => parameter === "texto");
  const pieces = Array.from({ length: Math.ceil(text.length / length) }, (_, n) =>
    text.slice(n * length, (n + 1) * length),
  );
  const parts = [...pieces.flatMap((piece) => calls.split(piece)), ...calls.rest()].flatMap((part): Read[] =>
    "calls" in part ? part.calls : [part],
  );
  return parts.reduce<Read[]>((all, part) => {
    const last = all.at(-1);
    if ("text" in part && last && "text" in last) last.text += part.text;
    else if (!("text" in part) || part.text) all.push({ ...part });
    return all;
  }, []);
}
const call = (input: object) => ({ name: "buscar", input: JSON.stringify(input) });

it.each<[string, string, Read[]]>([
  [
    "Qwen's and Hermes'",
    'Miro.\n<tool_call>\n{"name": "buscar", "arguments": {"q": "habas"}}\n</tool_call>\nYa.',
    [{ text: "Miro.\n" }, call({ q: "habas" }), { text: "\nYa." }],
  ],
  [
    "two in one mark",
    '<tool_call>\n{"name":"buscar","arguments":{"q":1}}\n{"name":"buscar","arguments":{"q":2}}\n</tool_call>',
    [call({ q: 1 }), call({ q: 2 })],
  ],
  [
    "Liquid's",
    `Miro. <|tool_call_start|>[buscar(q="Vigo, (ría)", n=5, si=True), buscar(q='d\\'Orsay', en=["a", None])]<|tool_call_end|>`,
    [{ text: "Miro. " }, call({ q: "Vigo, (ría)", n: 5, si: true }), call({ q: "d'Orsay", en: ["a", null] })],
  ],
  [
    "Liquid's with escapes",
    String.raw`<|tool_call_start|>[buscar(q="\d+\.csv$", casa="C:\Users", bar='Caf\u00e9\n')]<|tool_call_end|>`,
    [call({ q: String.raw`\d+\.csv$`, casa: String.raw`C:\Users`, bar: "Café\n" })],
  ],
  [
    "Liquid's as JSON",
    '<|tool_call_start|>[{"name": "buscar", "arguments": {"q": "habas"}}]<|tool_call_end|>',
    [call({ q: "habas" })],
  ],
  [
    "what only looks like Liquid's",
    "<|tool_call_start|>[buscar(q=habas)]<|tool_call_end|>",
    [{ text: "<|tool_call_start|>[buscar(q=habas)]<|tool_call_end|>" }],
  ],
  ["one without its end", '<tool_call>{"name":"buscar","arguments":{"q":1}}', [call({ q: 1 })]],
  ["Llama's", '<function=buscar>{"q":"habas"}</function>', [{ name: "buscar", input: '{"q":"habas"}' }]],
  [
    "Qwen Coder's",
    "<tool_call>\n<function=buscar>\n<parameter=q>\nhabas <b>\n</parameter>\n<parameter=n>\n3\n</parameter>\n</function>\n</tool_call>",
    [call({ q: "habas <b>", n: 3 })],
  ],
  [
    "GLM's",
    "Miro.\n<tool_call>buscar\n<arg_key>q</arg_key>\n<arg_value>habas <b></arg_value>\n<arg_key>n</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
    [{ text: "Miro.\n" }, call({ q: "habas <b>", n: 3 })],
  ],
  ["GLM's without arguments", "<tool_call>buscar</tool_call>", [call({})]],
  [
    "MiniMax's, two at once",
    '<minimax:tool_call>\n<invoke name="buscar">\n<parameter name="q">habas</parameter>\n</invoke>\n<invoke name="buscar">\n<parameter name="n">3</parameter>\n</invoke>\n</minimax:tool_call>',
    [call({ q: "habas" }), call({ n: 3 })],
  ],
  [
    "DeepSeek's of today",
    'Miro.<｜DSML｜function_calls>\n<｜DSML｜invoke name="buscar">\n<｜DSML｜parameter name="q" string="true">3</｜DSML｜parameter>\n<｜DSML｜parameter name="n" string="false">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    [{ text: "Miro." }, call({ q: "3", n: 3 })],
  ],
  [
    "DeepSeek's of yesterday",
    'Miro.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>buscar<｜tool▁sep｜>{"q":"habas"}<｜tool▁call▁end｜><｜tool▁call▁begin｜>buscar<｜tool▁sep｜>{"n":3}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    [{ text: "Miro." }, call({ q: "habas" }), call({ n: 3 })],
  ],
  [
    "DeepSeek's first",
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>buscar\n```json\n{"q":"habas"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    [call({ q: "habas" })],
  ],
  [
    "Kimi's, without its last mark",
    'Miro.<|tool_calls_section_begin|><|tool_call_begin|>functions.buscar:0<|tool_call_argument_begin|>{"q":"habas"}<|tool_call_end|>',
    [{ text: "Miro." }, call({ q: "habas" })],
  ],
  [
    "Mistral's",
    '[TOOL_CALLS]buscar[CALL_ID]a1b2[ARGS]{"q":"habas"}[TOOL_CALLS]buscar[ARGS]{"n":3}',
    [call({ q: "habas" }), call({ n: 3 })],
  ],
  [
    "Mistral's of yesterday",
    'Miro. [TOOL_CALLS] [{"name":"buscar","arguments":{"n":3}}]',
    [{ text: "Miro. " }, call({ n: 3 })],
  ],
  [
    "Gemma's",
    '<|tool_call>call:buscar{q:<|"|>habas: "tiernas"<|"|>,n:3,si:true}<tool_call|>',
    [call({ q: 'habas: "tiernas"', n: 3, si: true })],
  ],
  [
    "that of OpenAI's open models",
    '<|channel|>commentary to=functions.buscar <|constrain|>json<|message|>{"q":"habas"}<|call|>',
    [call({ q: "habas" })],
  ],
  ["Granite's", '<|tool_call|>[{"name":"buscar","arguments":{"q":"habas"}}]', [call({ q: "habas" })]],
  [
    "Cohere's",
    '<|START_ACTION|>[{"tool_call_id":"0","tool_name":"buscar","parameters":{"q":"habas"}}]<|END_ACTION|>',
    [call({ q: "habas" })],
  ],
  ["Llama's other", '<|python_tag|>{"name":"buscar","parameters":{"q":"habas"}}<|eom_id|>', [call({ q: "habas" })]],
  [
    "one with a text that looks like a number",
    "<function=buscar>\n<parameter=texto>\n1.10\n</parameter>\n<parameter=n>\n1.10\n</parameter>\n</function>",
    [call({ texto: "1.10", n: 1.1 })],
  ],
  ["JSON and nothing else", '{"name": "buscar", "parameters": {"q": "habas"}}\n', [call({ q: "habas" })]],
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
  ["something broken", "<tool_call>buscar algo</tool_call> y <function=> < <t"],
  ["a mark that is spoken of", "Mistral escribe [TOOL_CALLS] y Llama <|python_tag|> antes de <|tool_call|>."],
  ["a mark in code within a line", "Mistral escribe `[TOOL_CALLS]buscar[ARGS]{}`, y ya está"],
  ["JSON that is an answer", '{"name": "buscar", "age": 3}'],
  ["JSON that names something else", '{"name": "Ana", "arguments": ["a favor"]}'],
  ["the description of a tool", '{"name": "buscar", "parameters": {"type": "object", "properties": {"q": {}}}}'],
  ["a tool with more than a call has", '{"name": "buscar", "description": "Busca", "parameters": {"q": "x"}}'],
  ["words where arguments belong", "<function=buscar> es como se escribe, y acaba con </function>."],
  [
    "a value with a closing mark",
    "<tool_call>\n<function=buscar>\n<parameter=q>\nqué hace </tool_call> en Qwen\n</parameter>\n</function>\n</tool_call>",
  ],
  [
    "a value with an opening mark",
    "<function=buscar>\n<parameter=q>\nuna <parameter=n> rara\n</parameter>\n</function>",
  ],
  ["JSON before more text", '{"name": "buscar", "arguments": {}} es lo que hay que mandar.'],
  ["a call between others of tools that were not offered", "[TOOL_CALLS]buscar[ARGS]{}[TOOL_CALLS]borrar[ARGS]{}"],
])("leaves text as it is: %s", (_, text) => {
  for (const length of [1, 3, text.length]) expect(read(text, length)).toEqual([{ text }]);
});

it.each([
  ["speaks of a mark", "Mistral escribe [TOOL_CALLS] delante."],
  ["is JSON", '{"name": "Ana", "arguments": []}'],
  ["names another function", "\n<function=nombre>\n\nEs la marca."],
  ["shows a list behind a mark", "Mistral escribe [TOOL_CALLS] [{…}] delante."],
])("holds nothing back of an answer that %s", (_, text) => {
  const calls = new WrittenCalls(["buscar"]);
  expect(calls.split(text)).not.toEqual([]);
  expect(calls.rest()).toEqual([]);
});
