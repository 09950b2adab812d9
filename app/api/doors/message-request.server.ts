import { z } from "@hono/zod-openapi";
import type { ToolCall, ToolChoice } from "../../replies/providers/model-call.server.ts";
import type { Thought } from "../../replies/tools/call.ts";
import {
  between,
  callId,
  type DoorRequest,
  definedFields,
  everyFieldOf,
  functionTool,
  jsonFormat,
  jsonSchema,
  longToolName,
  oneTool,
  positiveInteger,
  type Said,
  type Segment,
  saidAtMost,
  text,
} from "./door-request.server.ts";
import type { ThoughtSeal } from "./thoughts/sealed-thoughts.server.ts";

/** Names that Messages use for fields with other names in chat completions. */
export const messageNames = {
  stop: "stop_sequences",
  response_format: "output_config",
  json_schema: "output_config",
  parallel_tool_calls: "tool_choice",
};

const bytes = z.string("Tiene que ser un texto.").regex(/^[\w+/=\s-]+$/, "No es Base64.");
const shown = [
  z.object({ type: z.literal("text"), text }),
  z.object({
    type: z.literal("image"),
    source: z.object({ type: z.literal("base64", "Las imágenes se envían dentro, en Base64."), data: bytes }),
  }),
  z.object({
    type: z.literal("document"),
    title: z.string().max(200, "Es demasiado largo.").nullish(),
    source: z.discriminatedUnion(
      "type",
      [z.object({ type: z.literal("base64"), data: bytes }), z.object({ type: z.literal("text"), data: text })],
      "Los documentos se envían dentro, en Base64 o como texto.",
    ),
  }),
  // Findings of a program's own search, and the name of a tool that it has found.
  z.object({
    type: z.literal("search_result"),
    source: text,
    title: text,
    content: z.array(z.object({ type: z.literal("text"), text })),
  }),
  z.object({ type: z.literal("tool_reference"), tool_name: longToolName }),
] as const;
const found = z.union([text, z.array(z.discriminatedUnion("type", shown))], "Se admiten texto, imágenes y documentos.");
// Work that Anthropic did by itself in an earlier turn: the model gets its text only.
const providerOnly = z.enum([
  "server_tool_use",
  "web_search_tool_result",
  "web_fetch_tool_result",
  "code_execution_tool_result",
  "bash_code_execution_tool_result",
  "text_editor_code_execution_tool_result",
  "tool_search_tool_result",
  "mcp_tool_use",
  "mcp_tool_result",
  "container_upload",
  "compaction",
]);
const block = z.discriminatedUnion(
  "type",
  [
    ...shown,
    z.object({ type: z.literal("tool_use"), id: callId, name: longToolName, input: z.unknown() }),
    z.object({
      type: z.literal("tool_result"),
      tool_use_id: callId,
      content: found.nullish(),
      is_error: z.boolean().nullish(),
    }),
    z.object({ type: z.literal("thinking"), thinking: text, signature: z.string().nullish() }),
    z.object({ type: z.literal("redacted_thinking"), data: z.string() }),
    z.object({ type: providerOnly }),
  ],
  "Se admiten text, image, document, search_result, tool_use, tool_result, thinking y redacted_thinking.",
);
const message = z.object({
  role: z.enum(["user", "assistant", "system"], "El rol tiene que ser user o assistant."),
  content: z.union([text, z.array(block)], "Faltan las palabras o los bloques de «content»."),
});
const tool = z.union(
  [
    z.object({
      type: z.literal("custom").nullish(),
      name: longToolName,
      description: text.nullish(),
      input_schema: jsonSchema,
      strict: z.boolean().nullish(),
    }),
    z.object({ type: z.literal("tertulia"), name: longToolName }),
  ],
  "Solo se admiten herramientas del programa (con input_schema) y de esta casa (tertulia).",
);
const isParallel = { disable_parallel_tool_use: z.boolean().nullish() };
const choice = z.discriminatedUnion(
  "type",
  [
    z.object({ type: z.enum(["auto", "any", "none"]), ...isParallel }),
    z.object({ type: z.literal("tool"), name: longToolName, ...isParallel }),
  ],
  "tool_choice tiene que ser auto, any, none o tool.",
);

const conversation = {
  model: z.string("Falta el modelo."),
  messages: z
    .array(message, "Faltan los mensajes.")
    .min(1, "Faltan los mensajes.")
    .max(saidAtMost, "Son demasiados mensajes."),
  system: z.union([text, z.array(z.object({ type: z.literal("text"), text }))]).nullish(),
  tools: z.array(tool, "Tiene que ser una lista.").max(512, "Son más de 512 herramientas.").nullish(),
  tool_choice: choice.nullish(),
  thinking: z
    .discriminatedUnion(
      "type",
      [
        z.object({ type: z.literal("enabled"), budget_tokens: positiveInteger }),
        z.object({ type: z.enum(["adaptive", "disabled"]) }),
      ],
      "thinking tiene que ser enabled, adaptive o disabled.",
    )
    .nullish(),
  output_config: z
    .object({
      effort: z.enum(["low", "medium", "high", "xhigh", "max"]).nullish(),
      format: z.object({ type: z.literal("json_schema"), schema: jsonSchema }).nullish(),
    })
    .nullish(),
};
// Programs mark the constant beginning of a prompt, and clean up the context, only for Anthropic; here the provider finds that beginning.
const withoutEffect = ["metadata", "service_tier", "cache_control", "context_management", "betas"];

// A thread would keep the conversation at Anthropic.
const refused = { thread: "Aquí no hay hilos («thread»): envía la conversación entera." };

/** A request of Anthropic's Messages (docs.anthropic.com/en/api/messages). */
export const askedMessage = everyFieldOf(
  {
    ...conversation,
    max_tokens: positiveInteger,
    stream: z.boolean().nullish(),
    temperature: between(0, 1).nullish(),
    top_p: between(0, 1).nullish(),
    top_k: positiveInteger.nullish(),
    stop_sequences: z.array(z.string()).max(64, "Son demasiadas.").nullish(),
  },
  { withoutEffect, refused },
).openapi("AnthropicMessageRequest", {
  example: { model: "gpt-4o", max_tokens: 1000, messages: [{ role: "user", content: "Hola" }] },
});
type AskedMessage = z.output<typeof askedMessage>;

/** A conversation whose tokens are to be counted. */
export const askedCount = everyFieldOf(conversation, { withoutEffect, refused }).openapi("AnthropicCountRequest", {
  example: { model: "gpt-4o", messages: [{ role: "user", content: "Hola" }] },
});
type Conversation = z.output<typeof askedCount>;

/** A request of Messages in the form common to all doors. Throws 422 if it chooses a tool that is not there. */
export function messageRequest(body: Conversation & Partial<AskedMessage>, seal: ThoughtSeal): DoorRequest {
  const tools = (body.tools ?? []).flatMap((one) =>
    "input_schema" in one ? [functionTool({ ...one, parameters: one.input_schema })] : [],
  );
  const system = typeof body.system === "string" ? [{ text: body.system }] : (body.system ?? []);
  const { tool_choice: chosen } = body;
  return {
    model: body.model,
    said: [
      ...(system.length > 0 ? [{ role: "system" as const, segments: system.map(({ text }) => ({ text })) }] : []),
      ...body.messages.flatMap((one) => saidIn(one, seal)),
    ],
    tools,
    house: (body.tools ?? []).flatMap((one) => (one.type === "tertulia" ? [one.name] : [])),
    toolChoice: chosen ? choiceOf(chosen, tools) : undefined,
    responseFormat: body.output_config?.format ? jsonFormat(body.output_config.format) : undefined,
    stop: body.stop_sequences ?? [],
    maxTokens: body.max_tokens,
    temperature: body.temperature ?? undefined,
    settings: definedFields({
      topP: body.top_p,
      topK: body.top_k,
      parallelToolCalls: chosen?.disable_parallel_tool_use ? false : undefined,
      reasoning: effortOf(body),
    }),
    // Programs for Claude ask every model to think.
    wishes: ["reasoning_effort"],
  };
}

// Largest thinking budgets, in tokens, of low and of medium effort.
const lowBudget = 4_096;
const mediumBudget = 16_384;

function effortOf({ thinking, output_config: config }: Conversation): DoorRequest["settings"]["reasoning"] {
  if (thinking?.type === "disabled") return undefined;
  if (config?.effort) return config.effort === "max" ? "xhigh" : config.effort;
  if (thinking?.type !== "enabled") return undefined;
  if (thinking.budget_tokens <= lowBudget) return "low";
  return thinking.budget_tokens <= mediumBudget ? "medium" : "high";
}

function choiceOf(chosen: z.output<typeof choice>, tools: DoorRequest["tools"]): ToolChoice {
  if (chosen.type === "tool") return oneTool(chosen.name, tools);
  return { type: chosen.type === "any" ? "required" : chosen.type };
}

type Shown = Exclude<z.output<typeof found>, string>[number];

function segmentOf(one: Shown): Segment {
  if (one.type === "text") return { text: one.text };
  if (one.type === "image") return { image: one.source.data };
  if (one.type === "tool_reference") return { text: `Herramienta: ${one.tool_name}` };
  if (one.type === "search_result") {
    return { text: `«${one.title}» (${one.source}):\n${one.content.map(({ text }) => text).join("\n")}` };
  }
  const name = one.title ?? "documento";
  if (one.source.type === "text") return { text: `«${name}»:\n${one.source.data}` };
  return { file: { name, data: one.source.data } };
}

/** Turns of one message; results of tools, which stand in messages of the person, become turns of their own. */
function saidIn({ role, content }: AskedMessage["messages"][number], seal: ThoughtSeal): Said[] {
  if (typeof content === "string") return [{ role, segments: [{ text: content }] }];
  const said: Said[] = [];
  const calls: ToolCall[] = [];
  const thoughts: Thought[] = [];
  let segments: Segment[] = [];
  for (const one of content) {
    if (one.type === "tool_use") calls.push({ id: one.id, name: one.name, input: JSON.stringify(one.input ?? {}) });
    else if (one.type === "thinking" || one.type === "redacted_thinking") {
      const isHidden = one.type === "redacted_thinking";
      const opened = seal.open(isHidden ? one.data : (one.signature ?? ""));
      const signed = calls.find(({ id }) => id === opened?.callId);
      if (opened && signed) signed.meta = opened.meta;
      else if (opened) thoughts.push({ text: isHidden ? "" : one.thinking, meta: opened.meta });
    } else if (one.type === "tool_result") {
      if (segments.length > 0) said.push({ role: "user", segments });
      segments = [];
      said.push({ role: "tool", callId: one.tool_use_id, segments: foundIn(one) });
    } else if (!isOfProvider(one)) segments.push(segmentOf(one));
  }
  if (role === "assistant") return [{ role, segments, calls, thoughts }];
  return segments.length > 0 ? [...said, { role, segments }] : said;
}

type Block = z.output<typeof block>;
type OfProvider = Extract<Block, { type: z.output<typeof providerOnly> }>;
const isOfProvider = (one: Block): one is OfProvider => providerOnly.safeParse(one.type).success;

type Result = Extract<z.output<typeof block>, { type: "tool_result" }>;

function foundIn({ content, is_error }: Result): Segment[] {
  const segments = typeof content === "string" ? [{ text: content }] : (content ?? []).map(segmentOf);
  return is_error ? [{ text: "Error:" }, ...segments] : segments;
}
