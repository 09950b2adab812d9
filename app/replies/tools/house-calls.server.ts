import { objectOf } from "../../process/text/json.ts";
import { type Found, type Tool, ToolRefused } from "../../tools/tool.server.ts";
import type { ReplyUsage } from "../chunk.ts";
import type { Piece, Prompt } from "../providers/model-call.server.ts";
import { isOfCall, ToolCalls } from "../providers/tool-calls.server.ts";
import { addedUsage } from "../usage.server.ts";
import { anybody, mustAsk, type Origins, originOf, Provenance } from "./provenance.server.ts";

type Asking = {
  /** Asks the model once more, with what was said and called since. */
  ask(turns: Prompt["turns"]): AsyncGenerator<Piece>;
  /** The conversation as the program has sent it. */
  given: Prompt["turns"];
  tools: Tool[];
  caller: { userId: string; signal: AbortSignal };
};

const stepsAtMost = 12;

/**
 * A completion for a program that has asked for tools of the house: they are called here until the model answers, or calls
 * something that the program carries out itself. The program sees the text of all steps, its own calls, and one end with the usage
 * of all. Only tools that change nothing and ask nobody take part, as there is nobody to ask.
 */
export async function* withHouseCalls({ ask, given, tools, caller }: Asking): AsyncGenerator<Piece> {
  const turns: Prompt["turns"] = [];
  const known = knownFrom(given, tools);
  let used: ReplyUsage = { inputTokens: 0, outputTokens: 0 };
  for (let step = 0; ; step++) {
    const calls = new ToolCalls();
    let text = "";
    let end: Extract<Piece, { type: "finish" }> | undefined;
    for await (const piece of ask(turns)) {
      calls.take(piece);
      if (piece.type === "finish") end = piece;
      else if (!isOfCall(piece)) {
        if (piece.type === "text") text += piece.text;
        yield piece;
      }
    }
    used = addedUsage(used, end?.usage ?? {});
    const isOurs = (name: string) => tools.some((tool) => tool.name === name);
    const theirs = calls.list.filter(({ name }) => !isOurs(name));
    if (calls.list.length === 0 || theirs.length > 0 || step === stepsAtMost) {
      // If both are called at once, the program's go first; the model calls ours again if it still wants to.
      for (const [index, { id, name, input }] of theirs.entries()) {
        yield { type: "call", index, id, name };
        yield { type: "call-input", index, text: input };
      }
      if (end) yield { ...end, reason: theirs.length > 0 ? "tool_calls" : end.reason, usage: used };
      return;
    }
    turns.push({ role: "assistant", content: text, calls: calls.list, thoughts: calls.thoughts });
    const provenance = new Provenance(known);
    const results = await Promise.all(
      calls.list.map(({ name, input }) => result(tools, name, input, { ...caller, provenance, known })),
    );
    for (const [index, { id, name }] of calls.list.entries()) {
      turns.push({ role: "tool", callId: id, name, content: results[index] ?? "" });
    }
  }
}

/** Texts that a program sends as its person's are the person's; images, results of its tools and words of models are anybody's. */
const knownFrom = (given: Prompt["turns"], tools: Tool[]): Origins => ({
  person: given.flatMap(({ role, content }) => (role === "user" ? [content] : [])),
  listed: [],
  origins: given.some((turn) => turn.role !== "user" || turn.images) ? [anybody] : [],
  described: tools.flatMap(({ server, toolId }) => (server === null ? [] : [toolId])),
});

/** The call's origin and found addresses are added to `known`. */
async function result(
  tools: Tool[],
  name: string,
  input: string,
  { userId, signal, provenance, known }: Asking["caller"] & { provenance: Provenance; known: Origins },
): Promise<string> {
  const tool = tools.find((one) => one.name === name);
  const given = objectOf(input);
  if (!tool || !given) return "Error: Los datos de la llamada no son un objeto JSON completo.";
  if (mustAsk(tool, given, { provenance, granted: true, wasCut: false }))
    return "Error: Ni la persona ni una búsqueda han nombrado ese lugar, y aquí no hay a quién preguntar.";
  const origin = originOf(tool);
  if (origin) known.origins.push(origin);
  const within = AbortSignal.any([signal, AbortSignal.timeout(tool.time)]);
  const nowhere = { chatId: "", projectId: null, sessionId: null, modelId: null, messageId: "" };
  const caller = { userId, ...nowhere, zone: "UTC", length: tool.length, answers: [] };
  const late = new Promise<never>((_, reject) => {
    within.addEventListener("abort", () => reject(within.reason), { once: true });
  });
  try {
    const outcome = await Promise.race([tool.call(given, { ...caller, signal: within }), late]);
    if ("question" in outcome)
      return "Error: Esta herramienta pregunta algo a la persona, y aquí no hay a quién preguntar.";
    known.listed.push(...(outcome.found ?? []).flatMap(({ url, isListed }) => (url && isListed ? [url] : [])));
    const found = (outcome.found ?? []).map((one, index) => foundAsText(one, outcome.whole?.[index]));
    return [outcome.text, ...found].filter(Boolean).join("\n\n").slice(0, tool.length).toWellFormed();
  } catch (error) {
    signal.throwIfAborted();
    return `Error: ${error instanceof ToolRefused ? error.message : `«${tool.label}» ha fallado o no ha contestado a tiempo.`}`;
  }
}

const foundAsText = ({ title, url, quote }: Found, whole: string | undefined) =>
  [title, url, whole ?? quote].filter(Boolean).join("\n");
