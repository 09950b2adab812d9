import { z } from "@hono/zod-openapi";
import type { ModelRow } from "../../db/tables.ts";
import { FileRefused } from "../../files/refused.server.ts";
import { limits } from "../../process/limits.ts";
import type {
  OfferedTool,
  Prompt,
  ResponseFormat,
  ToolCall,
  ToolChoice,
} from "../../replies/providers/model-call.server.ts";
import { schemaForModels } from "../../replies/providers/tool-schema.server.ts";
import { invalid } from "../http/problem.server.ts";

const text = z.string("Tiene que ser un texto.").transform((value) => value.replaceAll("\0", ""));
const inline = /^data:image\/(?:png|jpeg|webp|gif|avif);base64,([\w+/=\s-]+)$/;
const part = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text }),
  z.object({
    type: z.literal("image_url"),
    // Remote addresses are refused: this server would fetch whatever anyone points it at (SSRF).
    image_url: z.object({ url: z.string().regex(inline, "Las imágenes se envían dentro: data:image/…;base64,…") }),
  }),
]);
/** Its text, and its images in Base64. */
const content = z.union(
  [
    text.transform((said) => ({ text: said, images: [] as string[] })),
    z.array(part).transform((parts) => ({
      text: parts.flatMap((one) => (one.type === "text" ? [one.text] : [])).join("\n"),
      images: parts.flatMap((one) => (one.type === "image_url" ? (inline.exec(one.image_url.url)?.[1] ?? []) : [])),
    })),
  ],
  "Se admiten texto e imágenes incluidas como data:image/…;base64,…",
);
const toolName = z
  .string("Falta el nombre.")
  .regex(/^[\w-]{1,64}$/, "Un nombre tiene letras, cifras, _ y -, hasta 64.");
const called = z.object({
  id: z.string("Falta el id de la llamada.").max(200, "Es demasiado largo."),
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
        parameters: z.record(z.string(), z.unknown(), "Tiene que ser un esquema JSON.").nullish(),
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
  ],
  "tool_choice tiene que ser none, auto, required o una función.",
);
const message = z.object({
  role: z.enum(
    ["system", "developer", "user", "assistant", "tool"],
    "El rol tiene que ser system, developer, user, assistant o tool.",
  ),
  // Empty if the assistant only called a tool.
  content: content.nullish().transform((said) => said ?? { text: "", images: [] as string[] }),
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
        name: z.string().max(64, "Es demasiado largo.").optional(),
        description: z.string().max(2000, "Es demasiado largo.").optional(),
        schema: z.record(z.string(), z.unknown(), "Tiene que ser un esquema JSON.").optional(),
      }),
    }),
  ],
  "response_format tiene que ser text, json_object o json_schema.",
);
const whole = z
  .number("Tiene que ser un número.")
  .int("Tiene que ser un número entero.")
  .min(1, "Tiene que ser 1 o más.");
/** A request in OpenAI's format. Unknown fields are ignored. */
export const asked = z
  .object({
    model: z.string("Falta el modelo."),
    messages: z
      .array(message, "Faltan los mensajes.")
      .min(1, "Faltan los mensajes.")
      .max(1000, "Son demasiados mensajes."),
    stream: z.boolean().nullish(),
    stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
    temperature: z.number("Tiene que ser un número.").min(0).max(2, "La temperatura va de 0 a 2.").nullish(),
    max_tokens: whole.nullish(),
    max_completion_tokens: whole.nullish(),
    stop: z.union([z.string(), z.array(z.string()).max(4, "Son demasiadas.")]).nullish(),
    response_format: format.nullish(),
    n: z.literal(1, "Solo se da una respuesta.").nullish(),
    tools: z.array(offered, "Tiene que ser una lista.").max(128, "Son más de 128 herramientas.").nullish().openapi({
      description:
        "Las del programa (function), que las ejecuta él y envía lo que sale con el rol tool, y por su nombre las de aquí (tertulia), si no cambian nada ni preguntan antes.",
    }),
    tool_choice: choice.nullish(),
  })
  .openapi("ChatCompletionRequest", {
    example: { model: "gpt-4o", messages: [{ role: "user", content: "Hola" }], stream: false },
  });
export type DoorRequest = z.output<typeof asked>;

/** The requested output format as the provider libraries expect it; undefined for text. */
export function formatOf({ response_format: given }: DoorRequest): ResponseFormat | undefined {
  if (!given || given.type === "text") return undefined;
  if (given.type === "json_object") return { type: "json" };
  const { schema, name, description } = given.json_schema;
  return {
    type: "json",
    ...(schema && { schema: schema as NonNullable<Extract<ResponseFormat, { type: "json" }>["schema"]> }),
    ...(name && { name }),
    ...(description && { description }),
  };
}

/** The program's tools, and which of them the model is to call, as the provider libraries expect them. */
export function toolsOf({ tools, tool_choice }: DoorRequest): { tools: OfferedTool[]; toolChoice?: ToolChoice } {
  const list = (tools ?? []).flatMap((given) => (given.type === "function" ? [functionOf(given.function)] : []));
  if (!tool_choice) return { tools: list };
  if (typeof tool_choice === "string") return { tools: list, toolChoice: { type: tool_choice } };
  const { name } = tool_choice.function;
  if (!list.some((one) => one.name === name)) throw invalid("tool_choice", `No hay ninguna herramienta «${name}».`);
  return { tools: list, toolChoice: { type: "tool", toolName: name } };
}

/** The names of the tools of the house that it asks for. */
export const houseToolsIn = ({ tools }: DoorRequest): string[] =>
  (tools ?? []).flatMap((given) => (given.type === "tertulia" ? [given.name] : []));

type Given = Extract<z.output<typeof offered>, { type: "function" }>["function"];

const functionOf = ({ name, description, parameters, strict }: Given): OfferedTool => ({
  type: "function",
  name,
  inputSchema: schemaForModels(parameters ?? {}) as OfferedTool["inputSchema"],
  ...(description && { description }),
  ...(strict != null && { strict }),
});

/** The prompt that it makes; throws 422 for what this model can't be shown. */
export async function promptOf({ messages, tools }: DoorRequest, model: ModelRow): Promise<Prompt> {
  const isSystem = (role: string) => role === "system" || role === "developer";
  const images = messages.flatMap(({ content: said }) => said.images);
  if (images.length > 0 && !model.acceptsImages) throw invalid("messages", "Este modelo no ve imágenes.");
  if (images.length > limits.filesPerMessage) {
    throw invalid("messages", `Son más de ${limits.filesPerMessage} imágenes, que es lo que se admite.`);
  }
  const turns: Prompt["turns"] = [];
  // Some providers refuse calls in the prompt where no tools are offered: what came of them is passed on as text then.
  const withCalls = (tools ?? []).length > 0;
  const names = new Map<string, string>();
  for (const { role, content: said, tool_calls, tool_call_id } of messages) {
    if (isSystem(role)) continue;
    const calls = role === "assistant" && withCalls ? (tool_calls ?? []).map(callOf) : [];
    for (const { id, name } of calls) names.set(id, name);
    if (role === "tool" && withCalls) {
      const callId = tool_call_id ?? "";
      const name = names.get(callId);
      if (!name)
        throw invalid("messages", "Un mensaje de rol tool no contesta a ninguna llamada anterior (tool_call_id).");
      turns.push({ role, callId, name, content: said.text });
      continue;
    }
    const images = await remade(said.images);
    if (!said.text.trim() && images.length === 0 && calls.length === 0) continue;
    if (role === "tool") turns.push({ role: "user", content: `Resultado de la herramienta:\n${said.text}` });
    else turns.push({ role: role === "assistant" ? role : "user", content: said.text, images, calls });
  }
  if (turns.length === 0) throw invalid("messages", "Falta un mensaje de la persona.");
  const system = messages.filter(({ role }) => isSystem(role)).map(({ content: said }) => said.text);
  return { system: system.join("\n\n"), turns };
}

const callOf = ({ id, function: { name, arguments: input } }: z.output<typeof called>): ToolCall => ({
  id,
  name,
  input,
});

/** Re-encoded: of limited size and without metadata. */
async function remade(images: string[]): Promise<Uint8Array[]> {
  if (images.length === 0) return [];
  const { remakeImage } = await import("../../files/pictures/images.server.ts");
  const done: Uint8Array[] = [];
  for (const encoded of images) {
    const made = await remakeImage(Buffer.from(encoded, "base64")).catch((error) => {
      throw error instanceof FileRefused ? invalid("messages", `Una imagen ${error.message}`) : error;
    });
    done.push(made.image);
  }
  return done;
}
