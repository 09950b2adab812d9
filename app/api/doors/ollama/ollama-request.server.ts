import { z } from "@hono/zod-openapi";
import { limits } from "../../../process/limits.ts";
import {
  between,
  callId,
  type DoorRequest,
  definedFields,
  everyFieldOf,
  functionTool,
  jsonFormat,
  jsonSchema,
  type Said,
  saidAtMost,
  text,
  toolName,
} from "../door-request.server.ts";
import { embedded } from "../embeddings.server.ts";

const image = z.string("Tiene que ser un texto.").regex(/^[\w+/=\s-]+$/, "Las imágenes se envían dentro, en Base64.");
const called = z.object({
  id: callId.nullish(),
  function: z.object({ name: toolName, arguments: z.record(z.string(), z.unknown(), "Tiene que ser un objeto.") }),
});
const message = z.object({
  role: z.enum(["system", "user", "assistant", "tool"], "El rol tiene que ser system, user, assistant o tool."),
  content: text.nullish(),
  images: z.array(image).nullish(),
  tool_calls: z.array(called).max(128, "Son demasiadas.").nullish(),
  tool_name: z.string().nullish(),
  tool_call_id: z.string().nullish(),
});
const offered = z.object({
  type: z.literal("function", "Solo se admiten funciones."),
  function: z.object({ name: toolName, description: text.nullish(), parameters: jsonSchema.nullish() }),
});
const count = z.number("Tiene que ser un número.").int("Tiene que ser un número entero.");
// Settings of the machine that the model runs on, which the house decides.
const ofMachine = [
  ...["num_ctx", "num_keep", "num_batch", "num_gpu", "num_gqa", "main_gpu", "num_thread", "numa"],
  ...["use_mmap", "use_mlock", "low_vram", "f16_kv", "vocab_only", "logits_all", "embedding_only"],
  ...["rope_frequency_base", "rope_frequency_scale"],
];
const options = everyFieldOf(
  {
    // Below 1, as much as the model may write.
    num_predict: count.nullish(),
    temperature: between(0, 2).nullish(),
    top_p: between(0, 1).nullish(),
    top_k: count.min(1, "Tiene que ser 1 o más.").nullish(),
    seed: count.nullish(),
    presence_penalty: between(-2, 2).nullish(),
    frequency_penalty: between(-2, 2).nullish(),
    stop: z.union([z.string(), z.array(z.string()).max(64, "Son demasiadas.")]).nullish(),
  },
  { withoutEffect: ofMachine },
);
const model = z.string("Falta el modelo.").max(500, "Es demasiado largo.");

/** A request of Ollama's chat (docs.ollama.com/api/chat). */
export const askedChat = everyFieldOf(
  {
    model,
    messages: z
      .array(message, "Faltan los mensajes.")
      .min(1, "Faltan los mensajes.")
      .max(saidAtMost, "Son demasiados mensajes."),
    tools: z.array(offered, "Tiene que ser una lista.").max(128, "Son más de 128 herramientas.").nullish(),
    stream: z.boolean().nullish(),
    format: z
      .union([z.literal(""), z.literal("json"), jsonSchema], "format tiene que ser json o un esquema.")
      .nullish(),
    think: z
      .union([z.boolean(), z.enum(["low", "medium", "high"])], "think es true, false, low, medium o high.")
      .nullish(),
    options: options.nullish(),
    logprobs: z.literal(false, "Aquí no se dan las probabilidades (logprobs).").nullish(),
  },
  { withoutEffect: ["keep_alive", "truncate", "shift"] },
).openapi("OllamaChatRequest", { example: { model: "llama3.2", messages: [{ role: "user", content: "Hola" }] } });
type AskedChat = z.output<typeof askedChat>;

/** A request of Ollama's embeddings (docs.ollama.com/api/embed). */
export const askedEmbed = everyFieldOf(
  {
    model: model.optional().openapi({ description: "Se usa siempre el modelo de búsqueda." }),
    input: embedded,
    dimensions: count.min(1, "Tiene que ser 1 o más.").max(8_192, "Tiene que ser 8192 o menos.").nullish(),
  },
  { withoutEffect: ["keep_alive", "truncate", "options"] },
).openapi("OllamaEmbedRequest", { example: { model: "bge-m3", input: "Hola" } });

/** A request of the older form, which Open WebUI and LangChain's first versions use. */
export const askedEmbedding = everyFieldOf(
  {
    model: model.optional(),
    prompt: z.string("Falta el texto.").min(1, "Falta el texto.").max(limits.message, "Es demasiado largo."),
  },
  { withoutEffect: ["keep_alive", "options"] },
).openapi("OllamaEmbeddingRequest", { example: { model: "bge-m3", prompt: "Hola" } });

export const askedShow = z
  .object({ model: model.optional(), name: model.optional().openapi({ description: "La forma antigua de «model»." }) })
  .openapi("OllamaShowRequest", { example: { model: "llama3.2" } });

/** A request of Ollama's chat in the form common to all doors. */
export function chatRequest(body: AskedChat): DoorRequest {
  const { options, think, format } = body;
  const { num_predict: most } = options ?? {};
  return {
    model: body.model,
    said: saidIn(body.messages),
    tools: (body.tools ?? []).map((one) => functionTool(one.function)),
    house: [],
    toolChoice: undefined,
    responseFormat: format ? jsonFormat(format === "json" ? {} : { schema: format }) : undefined,
    stop: [options?.stop ?? []].flat(),
    maxTokens: most != null && most > 0 ? most : undefined,
    temperature: options?.temperature ?? undefined,
    settings: definedFields({
      topP: options?.top_p,
      topK: options?.top_k,
      seed: options?.seed,
      presencePenalty: options?.presence_penalty,
      frequencyPenalty: options?.frequency_penalty,
      reasoning: effortOf(think),
    }),
    // Programs for Ollama ask models to think, or not to, that can't.
    wishes: ["reasoning_effort"],
  };
}

function effortOf(think: AskedChat["think"]): DoorRequest["settings"]["reasoning"] {
  if (think == null) return undefined;
  if (think === false) return "none";
  return think === true ? "medium" : think;
}

/** The conversation, each result with the id of its call: Ollama's names only the tool, or nothing. */
function saidIn(messages: AskedChat["messages"]): Said[] {
  const open: { id: string; name: string }[] = [];
  let made = 0;
  return messages.map(({ role, content, images, tool_calls, tool_name, tool_call_id }): Said => {
    const segments = [...(images ?? []).map((data) => ({ image: data })), ...(content ? [{ text: content }] : [])];
    if (role === "system" || role === "user") return { role, segments };
    if (role === "assistant") {
      const calls = (tool_calls ?? []).map(({ id, function: { name, arguments: input } }) => ({
        id: id || `call_${made++}`,
        name,
        input: JSON.stringify(input),
      }));
      open.push(...calls);
      return { role, segments, calls };
    }
    const at = open.findIndex(({ id, name }) =>
      tool_call_id ? id === tool_call_id : !tool_name || name === tool_name,
    );
    const [answered] = at < 0 ? [] : open.splice(at, 1);
    return { role, callId: answered?.id ?? tool_call_id ?? "", segments };
  });
}
