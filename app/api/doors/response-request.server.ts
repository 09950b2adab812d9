import { z } from "@hono/zod-openapi";
import type { OfferedTool, ToolCall } from "../../replies/providers/model-call.server.ts";
import type { Thought } from "../../replies/tools/call.ts";
import { invalid } from "../http/problem.server.ts";
import { effort } from "./chat-completion-request.server.ts";
import {
  allowedTools,
  between,
  callId,
  type DoorRequest,
  definedFields,
  everyFieldOf,
  fileName,
  functionTool,
  inlineFile,
  inlineImage,
  jsonFormat,
  jsonSchema,
  oneTool,
  positiveInteger,
  type Said,
  type Segment,
  saidAtMost,
  text,
  toolName,
} from "./door-request.server.ts";
import type { ThoughtSeal } from "./thoughts/sealed-thoughts.server.ts";

/** Names that Responses use for fields with other names in chat completions. */
export const responseNames = {
  messages: "input",
  reasoning_effort: "reasoning",
  response_format: "text.format",
  json_schema: "text.format",
  verbosity: "text.verbosity",
};

const part = z.discriminatedUnion(
  "type",
  [
    z.object({ type: z.enum(["input_text", "output_text", "text"]), text }),
    z.object({ type: z.literal("refusal"), refusal: text }),
    z.object({ type: z.literal("input_image"), image_url: inlineImage }),
    z.object({ type: z.literal("input_file"), filename: fileName, file_data: inlineFile }),
  ],
  "Se admiten input_text, output_text, input_image (dentro, en image_url) e input_file (dentro, en file_data).",
);
const content = z.union(
  [
    text.transform((said): Segment[] => [{ text: said }]),
    z.array(part).transform((parts) =>
      parts.map((one): Segment => {
        if (one.type === "input_image") return { image: one.image_url };
        if (one.type === "input_file") return { file: { name: one.filename, data: one.file_data } };
        return { text: one.type === "refusal" ? one.refusal : one.text };
      }),
    ),
  ],
  "Se admiten texto, imágenes y archivos.",
);
const said = z.object({
  type: z.literal("message").optional(),
  role: z.enum(
    ["system", "developer", "user", "assistant"],
    "El rol tiene que ser system, developer, user o assistant.",
  ),
  content,
});
const fn = z.object({
  type: z.literal("function"),
  name: toolName,
  description: text.nullish(),
  parameters: jsonSchema.nullish(),
  strict: z.boolean().nullish(),
});
const custom = z.object({ type: z.literal("custom"), name: toolName, description: text.nullish() });
const webSearch = z.enum([
  "web_search",
  "web_search_preview",
  "web_search_2025_08_26",
  "web_search_preview_2025_03_11",
]);
const ofProvider = z.enum([...webSearch.options, "image_generation", "tool_search"]);
/** Whether a tool is one of the provider's that is left out. */
export const isOfProvider = (type: string): boolean => ofProvider.safeParse(type).success;
const tool = z.discriminatedUnion(
  "type",
  [
    fn,
    z.object({
      type: z.literal("namespace"),
      name: toolName,
      tools: z.array(z.discriminatedUnion("type", [fn, custom])).max(128, "Son demasiadas."),
    }),
    custom,
    z.object({ type: z.literal("tertulia"), name: toolName }),
    // Programs such as Codex always send these. Web search here is a tool of the house, which a program requests by name.
    z.object({ type: ofProvider }),
  ],
  "Solo se admiten funciones (function, namespace, custom) y herramientas de esta casa (tertulia).",
);
const providerOnly = z.enum([
  "image_generation_call",
  "tool_search_call",
  "tool_search_output",
  "web_search_call",
  "file_search_call",
  "code_interpreter_call",
  "compaction",
  "local_shell_call",
  "local_shell_call_output",
  "shell_call",
  "shell_call_output",
  "computer_call",
  "computer_call_output",
  "mcp_list_tools",
  "mcp_call",
  "mcp_approval_request",
  "mcp_approval_response",
]);
const named = { call_id: callId, name: z.string("Falta el nombre.").max(64, "Es demasiado largo.") };
const item = z.union(
  [
    said,
    z.object({ type: z.literal("function_call"), ...named, arguments: text, namespace: z.string().max(64).nullish() }),
    z.object({ type: z.literal("custom_tool_call"), ...named, input: text }),
    z.object({ type: z.enum(["function_call_output", "custom_tool_call_output"]), call_id: callId, output: content }),
    z.object({
      type: z.literal("reasoning"),
      summary: z.array(z.object({ text })).optional(),
      encrypted_content: z.string().nullish(),
    }),
    z.object({ type: z.literal("item_reference"), id: z.string().max(200) }),
    // Tools that a program has found meanwhile.
    z.object({ type: z.literal("additional_tools"), tools: z.array(tool).max(128, "Son demasiadas.") }),
    // Work that the provider of an earlier response did by itself: the model gets the text only.
    z.object({ type: providerOnly }),
  ],
  "Un elemento de «input» no es de los que se admiten: message, function_call, custom_tool_call, sus resultados, reasoning e item_reference.",
);
export type InputItem = z.output<typeof item>;
/** Items as they are kept, in the words of the protocol. */
export const keptItems = z.array(item);

const choice = z.union(
  [
    z.enum(["none", "auto", "required"]),
    z.object({ type: z.enum(["function", "custom"]), name: toolName }),
    z.object({ type: webSearch }),
    z.object({
      type: z.literal("allowed_tools"),
      mode: z.enum(["auto", "required"]),
      tools: z.array(z.object({ type: z.enum(["function", "custom"]), name: toolName })).min(1),
    }),
  ],
  "tool_choice tiene que ser none, auto, required, una función, una herramienta custom o allowed_tools con ellas.",
);
const format = z.discriminatedUnion(
  "type",
  [
    z.object({ type: z.literal("text") }),
    z.object({ type: z.literal("json_object") }),
    z.object({
      type: z.literal("json_schema"),
      name: z.string().max(64, "Es demasiado largo.").nullish(),
      description: z.string().max(2000, "Es demasiado largo.").nullish(),
      schema: jsonSchema.nullish(),
      strict: z.boolean().nullish(),
    }),
  ],
  "text.format tiene que ser text, json_object o json_schema.",
);

/** A request of OpenAI's Responses (platform.openai.com/docs/api-reference/responses/create). */
export const askedResponse = everyFieldOf(
  {
    model: z.string("Falta el modelo."),
    input: z.union(
      [text, z.array(item).min(1, "«input» está vacío.").max(saidAtMost, "Son demasiados elementos.")],
      "«input» tiene que ser un texto o una lista de elementos que se admitan.",
    ),
    instructions: text.nullish(),
    stream: z.boolean().nullish(),
    store: z
      .boolean()
      .nullish()
      .openapi({ description: "Sin `false`, se guarda como una conversación de la persona." }),
    previous_response_id: z.string().max(200, "Es demasiado largo.").nullish(),
    temperature: between(0, 2).nullish(),
    top_p: between(0, 1).nullish(),
    max_output_tokens: positiveInteger.nullish(),
    parallel_tool_calls: z.boolean().nullish(),
    reasoning: z.object({ effort: effort.nullish() }, "Tiene que ser un objeto.").nullish(),
    text: z
      .object({
        format: format.optional(),
        verbosity: z.enum(["low", "medium", "high"], "Tiene que ser low, medium o high.").nullish(),
      })
      .nullish(),
    // Thoughts are always sent along; what the provider's own tools found is not here.
    include: z.array(z.string().max(100, "Es demasiado largo.")).nullish(),
    tools: z.array(tool, "Tiene que ser una lista.").max(128, "Son más de 128 herramientas.").nullish(),
    tool_choice: choice.nullish(),
    metadata: z.record(z.string(), z.unknown(), "Tiene que ser un objeto.").nullish(),
    background: z.literal(false, "Aquí no se contesta en segundo plano (background).").nullish(),
    truncation: z.literal("disabled", "Aquí no se recorta sin decirlo: acorta «input».").nullish(),
    top_logprobs: z.literal(0, "Aquí no se dan las probabilidades (top_logprobs).").nullish(),
  },
  {
    withoutEffect: [
      "stream_options",
      "user",
      "client_metadata",
      "safety_identifier",
      "prompt_cache_key",
      "prompt_cache_retention",
      "prompt_cache_options",
      "service_tier",
    ],
    refused: { conversation: "Aquí no hay «conversation»: usa «previous_response_id» o envía la conversación." },
  },
).openapi("OpenAiResponseRequest", { example: { model: "gpt-4o", input: "Hola", store: false } });
export type AskedResponse = z.output<typeof askedResponse>;

/** The kind of a program's tool, by the name under which a model knows it. */
export type ToolKinds = Map<string, { name: string; namespace?: string; isCustom?: boolean }>;

// Input of a custom tool as a model sees it: one text, in place of the tool's own format.
const customInput = {
  type: "object",
  properties: { input: { type: "string" } },
  required: ["input"],
  additionalProperties: false,
};

const inNamespace = (namespace: string, name: string) => `${namespace}__${name}`;

/** A program's tools as a model knows them, and the kind of each tool for the program. Throws 422 for a name that is too long. */
function toolsOf(tools: AskedResponse["tools"]): { tools: OfferedTool[]; kinds: ToolKinds } {
  const kinds: ToolKinds = new Map();
  const offered: OfferedTool[] = [];
  for (const one of tools ?? []) {
    if (one.type === "function") {
      kinds.set(one.name, { name: one.name });
      offered.push(functionTool(one));
    } else if (one.type === "custom") {
      kinds.set(one.name, { name: one.name, isCustom: true });
      offered.push(functionTool({ ...one, parameters: customInput }));
    } else if (one.type === "namespace") {
      for (const inner of one.tools) {
        const name = inNamespace(one.name, inner.name);
        if (name.length > 64) throw invalid("tools", `«${name}» es un nombre demasiado largo.`);
        const isCustom = inner.type === "custom";
        kinds.set(name, { name: inner.name, namespace: one.name, ...(isCustom && { isCustom }) });
        offered.push(functionTool({ ...inner, name, ...(isCustom && { parameters: customInput }) }));
      }
    }
  }
  return { tools: offered, kinds };
}

/** A request of Responses in the form common to all doors, with all items of its conversation. Throws 422. */
export function responseRequest(
  body: AskedResponse,
  items: InputItem[],
  seal: ThoughtSeal,
): DoorRequest & { kinds: ToolKinds } {
  const later = items.flatMap((one) => ("type" in one && one.type === "additional_tools" ? one.tools : []));
  const { tools, kinds } = toolsOf([...(body.tools ?? []), ...later]);
  return {
    model: body.model,
    said: [
      ...(body.instructions ? [{ role: "system" as const, segments: [{ text: body.instructions }] }] : []),
      ...saidIn(items, seal),
    ],
    kinds,
    house: (body.tools ?? []).flatMap((one) => (one.type === "tertulia" ? [one.name] : [])),
    ...chosenOf(body.tool_choice, tools),
    responseFormat: formatOf(body.text?.format),
    stop: [],
    maxTokens: body.max_output_tokens ?? undefined,
    temperature: body.temperature ?? undefined,
    settings: definedFields({
      topP: body.top_p,
      parallelToolCalls: body.parallel_tool_calls,
      strictJsonSchema: body.text?.format?.type === "json_schema" ? body.text.format.strict : null,
      verbosity: body.text?.verbosity,
      reasoning: body.reasoning?.effort,
    }),
    // Codex asks every model to think.
    wishes: ["reasoning_effort"],
  };
}

/** One step of a model: what it has thought, said and called. */
type Step = { role: "assistant"; segments: Segment[]; calls: ToolCall[]; thoughts: Thought[] };

/** Turns of a conversation in items: the thoughts and calls of one step, and its text, make one turn of the model. */
function saidIn(items: InputItem[], seal: ThoughtSeal): Said[] {
  const said: Said[] = [];
  const calls = new Map<string, ToolCall>();
  let open: Step | undefined;
  const step = () => {
    if (open) return open;
    open = { role: "assistant", segments: [], calls: [], thoughts: [] };
    said.push(open);
    return open;
  };
  const add = (one: Said) => {
    open = undefined;
    said.push(one);
  };
  const call = (made: ToolCall) => {
    calls.set(made.id, made);
    step().calls.push(made);
  };
  for (const one of items) {
    if ("role" in one) {
      if (one.role === "assistant") step().segments.push(...one.content);
      else add({ role: one.role === "user" ? "user" : "system", segments: one.content });
    } else if (one.type === "function_call") {
      const name = one.namespace ? inNamespace(one.namespace, one.name) : one.name;
      call({ id: one.call_id, name, input: one.arguments });
    } else if (one.type === "custom_tool_call") {
      call({ id: one.call_id, name: one.name, input: JSON.stringify({ input: one.input }) });
    } else if (one.type === "function_call_output" || one.type === "custom_tool_call_output") {
      add({ role: "tool", callId: one.call_id, segments: one.output });
    } else if (one.type === "reasoning") {
      const opened = seal.open(one.encrypted_content ?? "");
      if (!opened) continue;
      const signed = opened.callId === undefined ? undefined : calls.get(opened.callId);
      const thought = (one.summary ?? []).map((part) => part.text).join("\n\n");
      if (signed) signed.meta = opened.meta;
      else step().thoughts.push({ text: thought, meta: opened.meta });
    }
  }
  return said;
}

/** The tools that are offered to the model, and the choice among them. */
function chosenOf(
  chosen: AskedResponse["tool_choice"],
  tools: OfferedTool[],
): Pick<DoorRequest, "tools" | "toolChoice"> {
  if (!chosen) return { tools, toolChoice: undefined };
  if (typeof chosen === "string") return { tools, toolChoice: { type: chosen } };
  if ("name" in chosen) return { tools, toolChoice: oneTool(chosen.name, tools) };
  if (chosen.type !== "allowed_tools") return { tools, toolChoice: undefined };
  return allowedTools(
    chosen.tools.map(({ name }) => name),
    chosen.mode,
    tools,
  );
}

function formatOf(asked: NonNullable<AskedResponse["text"]>["format"]): DoorRequest["responseFormat"] {
  if (!asked || asked.type === "text") return undefined;
  return asked.type === "json_object" ? { type: "json" } : jsonFormat(asked);
}
