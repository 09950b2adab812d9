import { z } from "@hono/zod-openapi";
import type { OfferedTool } from "../../replies/providers/model-call.server.ts";
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

const part = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text }),
  z.object({ type: z.literal("refusal"), refusal: text }),
  z.object({ type: z.literal("image_url"), image_url: z.object({ url: inlineImage }) }),
  z.object({ type: z.literal("file"), file: z.object({ filename: fileName, file_data: inlineFile }) }),
]);
const content = z.union(
  [
    text.transform((said): Segment[] => [{ text: said }]),
    z.array(part).transform((parts) =>
      parts.map((one): Segment => {
        if (one.type === "text") return { text: one.text };
        if (one.type === "refusal") return { text: one.refusal };
        if (one.type === "image_url") return { image: one.image_url.url };
        return { file: { name: one.file.filename, data: one.file.file_data } };
      }),
    ),
  ],
  "Se admiten texto, imágenes y archivos.",
);
const called = z.object({
  id: callId,
  type: z.literal("function", "Solo se admiten funciones."),
  function: z.object({ name: toolName, arguments: text }),
});
const offered = z.discriminatedUnion(
  "type",
  [
    z.object({
      type: z.literal("function"),
      function: z.object({
        name: toolName,
        description: text.nullish(),
        parameters: jsonSchema.nullish(),
        strict: z.boolean().nullish(),
      }),
    }),
    z.object({ type: z.literal("tertulia"), name: toolName }),
  ],
  "Solo se admiten funciones (function) y herramientas de esta casa (tertulia).",
);
const choice = z.union(
  [
    z.enum(["none", "auto", "required"]),
    z.object({ type: z.literal("function"), function: z.object({ name: toolName }) }),
    z.object({
      type: z.literal("allowed_tools"),
      allowed_tools: z.object({
        mode: z.enum(["auto", "required"]),
        tools: z.array(z.object({ type: z.literal("function"), function: z.object({ name: toolName }) })).min(1),
      }),
    }),
  ],
  "tool_choice tiene que ser none, auto, required, una función o allowed_tools con funciones.",
);
const message = z.object({
  role: z.enum(
    ["system", "developer", "user", "assistant", "tool"],
    "El rol tiene que ser system, developer, user, assistant o tool.",
  ),
  // Empty if the assistant only called a tool.
  content: content.nullish().transform((said) => said ?? []),
  refusal: text.nullish(),
  tool_calls: z.array(called).max(128, "Son demasiadas.").nullish(),
  tool_call_id: z.string().nullish(),
});
const format = z.discriminatedUnion(
  "type",
  [
    z.object({ type: z.literal("text") }),
    z.object({ type: z.literal("json_object") }),
    z.object({
      type: z.literal("json_schema"),
      json_schema: z.object({
        name: z.string().max(64, "Es demasiado largo.").nullish(),
        description: z.string().max(2000, "Es demasiado largo.").nullish(),
        schema: jsonSchema.nullish(),
        strict: z.boolean().nullish(),
      }),
    }),
  ],
  "response_format tiene que ser text, json_object o json_schema.",
);
const efforts = ["none", "minimal", "low", "medium", "high", "xhigh"] as const;
/** How much a model is to think; OpenAI's newest word for the most is not known to all providers. */
export const effort = z
  .enum([...efforts, "max"], `Tiene que ser ${efforts.join(", ")} o max.`)
  .transform((said) => (said === "max" ? "xhigh" : said));

/** A request in OpenAI's format. */
export const asked = everyFieldOf(
  {
    model: z.string("Falta el modelo."),
    messages: z
      .array(message, "Faltan los mensajes.")
      .min(1, "Faltan los mensajes.")
      .max(saidAtMost, "Son demasiados mensajes."),
    stream: z.boolean().nullish(),
    stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
    temperature: between(0, 2).nullish(),
    top_p: between(0, 1).nullish(),
    seed: z.number("Tiene que ser un número.").int("Tiene que ser un número entero.").nullish(),
    presence_penalty: between(-2, 2).nullish(),
    frequency_penalty: between(-2, 2).nullish(),
    reasoning_effort: effort.nullish(),
    verbosity: z.enum(["low", "medium", "high"], "Tiene que ser low, medium o high.").nullish(),
    parallel_tool_calls: z.boolean().nullish(),
    max_tokens: positiveInteger.nullish(),
    max_completion_tokens: positiveInteger.nullish(),
    stop: z.union([z.string(), z.array(z.string()).max(4, "Son demasiadas.")]).nullish(),
    response_format: format.nullish(),
    n: z.literal(1, "Solo se da una respuesta.").nullish(),
    logprobs: z.literal(false, "Aquí no se dan las probabilidades (logprobs).").nullish(),
    modalities: z.tuple([z.literal("text")], "Aquí solo se contesta con texto.").nullish(),
    store: z.literal(false, "Aquí no se guarda lo que pregunta un programa.").nullish(),
    tools: z.array(offered, "Tiene que ser una lista.").max(128, "Son más de 128 herramientas.").nullish().openapi({
      description:
        "Las del programa (function), que las ejecuta él y envía lo que sale con el rol tool, y por su nombre las de aquí (tertulia), si no cambian nada ni preguntan antes.",
    }),
    tool_choice: choice.nullish(),
  },
  {
    withoutEffect: [
      "user",
      "metadata",
      "safety_identifier",
      "prompt_cache_key",
      "prompt_cache_retention",
      "prompt_cache_options",
      "service_tier",
    ],
    refused: {
      functions: "«functions» es la forma antigua: usa «tools».",
      function_call: "«function_call» es la forma antigua: usa «tool_choice».",
    },
  },
).openapi("ChatCompletionRequest", {
  example: { model: "gpt-4o", messages: [{ role: "user", content: "Hola" }], stream: false },
});
type Asked = z.output<typeof asked>;

/** A chat completion's request in the form common to all doors. Throws 422 if it chooses a tool that is not there. */
export function completionRequest(body: Asked): DoorRequest {
  const tools = (body.tools ?? []).flatMap((one) => (one.type === "function" ? [functionTool(one.function)] : []));
  return {
    model: body.model,
    said: body.messages.map(saidIn),
    house: (body.tools ?? []).flatMap((one) => (one.type === "tertulia" ? [one.name] : [])),
    ...chosenOf(body.tool_choice, tools),
    responseFormat: formatOf(body.response_format),
    stop: [body.stop ?? []].flat(),
    maxTokens: body.max_completion_tokens ?? body.max_tokens ?? undefined,
    temperature: body.temperature ?? undefined,
    settings: definedFields({
      topP: body.top_p,
      seed: body.seed,
      presencePenalty: body.presence_penalty,
      frequencyPenalty: body.frequency_penalty,
      parallelToolCalls: body.parallel_tool_calls,
      strictJsonSchema: body.response_format?.type === "json_schema" ? body.response_format.json_schema.strict : null,
      verbosity: body.verbosity,
      reasoning: body.reasoning_effort,
    }),
  };
}

function saidIn({ role, content, refusal, tool_calls, tool_call_id }: Asked["messages"][number]): Said {
  const segments = content.length === 0 && refusal ? [{ text: refusal }] : content;
  if (role === "tool") return { role, callId: tool_call_id ?? "", segments };
  if (role === "system" || role === "developer") return { role: "system", segments };
  if (role === "user") return { role, segments };
  const calls = (tool_calls ?? []).map(({ id, function: { name, arguments: input } }) => ({ id, name, input }));
  return { role, segments, calls };
}

/** The tools that are offered to the model, and the choice among them. */
function chosenOf(chosen: Asked["tool_choice"], tools: OfferedTool[]): Pick<DoorRequest, "tools" | "toolChoice"> {
  if (!chosen) return { tools, toolChoice: undefined };
  if (typeof chosen === "string") return { tools, toolChoice: { type: chosen } };
  if (chosen.type === "function") return { tools, toolChoice: oneTool(chosen.function.name, tools) };
  const { mode, tools: allowed } = chosen.allowed_tools;
  return allowedTools(
    allowed.map((one) => one.function.name),
    mode,
    tools,
  );
}

function formatOf(asked: Asked["response_format"]): DoorRequest["responseFormat"] {
  if (!asked || asked.type === "text") return undefined;
  return asked.type === "json_object" ? { type: "json" } : jsonFormat(asked.json_schema);
}
