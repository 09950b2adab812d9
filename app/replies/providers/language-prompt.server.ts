import type { LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider";
import type { ProviderMeta, Thought } from "../tools/call.ts";
import type { CallingTurn, Prompt, ToolResult } from "./model-call.server.ts";
import { thoughtMark } from "./reading/kept-fields.server.ts";
import { callPart, resultMessage } from "./tool-calls.server.ts";

/** A prompt as the providers' libraries take it, with marks that tell a provider that wants them which part to cache. */
export function toPrompt({ system, turns }: Prompt): LanguageModelV4Prompt {
  const said = alternating(turns).map(toMessage);
  const isStep = said.at(-1)?.role === "tool";
  // A prompt that ends with results of calls is cached whole; one that ends with a question, up to the turns found for that question.
  const kept = isStep ? said.length - 1 : said.findLastIndex(({ role }) => role === "user") - 1;
  return [
    ...(system ? [marked({ role: "system" as const, content: system })] : []),
    ...said.map((message, n) => (n === kept ? marked(message) : message)),
  ];
}

/** Marks the end of the part that Anthropic caches, from 1,024 tokens on. Caching costs a quarter more once, and then saves nine tenths. */
const marked = <Message extends LanguageModelV4Message>(message: Message): Message => ({
  ...message,
  providerOptions: { ...message.providerOptions, anthropic: { cacheControl: { type: "ephemeral" } } },
});

function toMessage(one: Group | ToolResult): LanguageModelV4Message {
  if (!Array.isArray(one)) return resultMessage(one);
  const { role, calls = [], thoughts = [] } = one[one.length - 1] ?? one[0];
  const said = saidParts(one);
  if (role === "user") return { role, content: said };
  const own = thoughts.filter(({ meta }) => !meta.openaiCompatible).map(thoughtPart);
  const fields = thoughtFieldsOf(thoughts);
  return {
    role,
    content: [...own, ...said, ...calls.map(callPart)],
    ...(fields && { providerOptions: { openaiCompatible: fields } }),
  };
}

type Group = [CallingTurn, ...CallingTurn[]];

/**
 * Turns, with consecutive ones of the person or of the model in a group: a failed reply leaves such turns, and templates of models refuse
 * them as separate messages.
 */
function alternating(turns: Prompt["turns"]): (Group | ToolResult)[] {
  const groups: (Group | ToolResult)[] = [];
  for (const turn of turns) {
    const group = groups.at(-1);
    const last = Array.isArray(group) ? group.at(-1) : undefined;
    if (turn.role === "tool") groups.push(turn);
    else if (Array.isArray(group) && last?.role === turn.role && !last.calls?.length) group.push(turn);
    else groups.push([turn]);
  }
  return groups;
}

type SaidPart = { type: "text"; text: string } | ReturnType<typeof imagePart>;

/** Texts and images of turns in their order, an image before the text of its turn; a text alone goes on with the one before. */
function saidParts(turns: Group): SaidPart[] {
  const parts: SaidPart[] = [];
  for (const { content, images = [] } of turns) {
    parts.push(...images.map(imagePart));
    const last = parts.at(-1);
    if (content && last?.type === "text") last.text += `\n\n${content}`;
    else if (content) parts.push({ type: "text", text: content });
  }
  const hasCalls = turns.some(({ calls }) => calls?.length);
  return parts.length > 0 || hasCalls ? parts : [{ type: "text", text: "" }];
}

const thoughtPart = ({ text, meta }: Thought) => ({ type: "reasoning" as const, text, providerOptions: meta });

/** Thoughts of a compatible server as fields of its message, under the names by which it sent them. */
function thoughtFieldsOf(thoughts: Thought[]): ProviderMeta[string] | undefined {
  let fields: ProviderMeta[string] | undefined;
  for (const { text, meta } of thoughts) {
    if (!meta.openaiCompatible) continue;
    const { [thoughtMark]: field, ...kept } = meta.openaiCompatible;
    fields = { ...fields, ...kept };
    if (typeof field === "string") fields[field] = `${fields[field] ?? ""}${text}`;
  }
  return fields;
}

const imagePart = (data: Uint8Array) => ({
  type: "file" as const,
  mediaType: "image/jpeg",
  data: { type: "data" as const, data },
});
