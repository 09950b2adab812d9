import { z } from "@hono/zod-openapi";
import type { ModelRow } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import { listOf, recordOf, wellFormedJson } from "../../process/text/json.ts";
import type {
  CallingTurn,
  OfferedTool,
  Prompt,
  ResponseFormat,
  Settings,
  ToolCall,
  ToolChoice,
} from "../../replies/providers/model-call.server.ts";
import type { Parameter } from "../../replies/providers/refused-parameters.server.ts";
import { schemaForModels } from "../../replies/providers/tool-schema.server.ts";
import type { Thought } from "../../replies/tools/call.ts";
import { invalid } from "../http/problem.server.ts";
import { readFileText, readImage, type SentFile } from "./sent-files.server.ts";

/** A piece of what was said, in its order: text, an image in Base64, or a file. */
export type Segment = { text: string } | { image: string } | { file: SentFile };

/** One thing that was said, called or found in the conversation that a program sends. */
export type Said =
  | { role: "system" | "user"; segments: Segment[] }
  | { role: "assistant"; segments: Segment[]; calls?: ToolCall[]; thoughts?: Thought[] }
  | { role: "tool"; callId: string; segments: Segment[] };

/** A program's request, whichever protocol it came in. */
export type DoorRequest = {
  model: string;
  said: Said[];
  /** The program's own tools. */
  tools: OfferedTool[];
  /** Names of the tools of the house that the program asks for. */
  house: string[];
  toolChoice: ToolChoice | undefined;
  responseFormat: ResponseFormat | undefined;
  stop: string[];
  maxTokens: number | undefined;
  temperature: number | undefined;
  settings: Settings;
  /** Parameters that may be left out where a model does not take them. */
  wishes?: Parameter[];
};

export const text = z.string("Tiene que ser un texto.").transform((value) => value.replaceAll("\0", "").toWellFormed());
export const positiveInteger = z
  .number("Tiene que ser un número.")
  .int("Tiene que ser un número entero.")
  .min(1, "Tiene que ser 1 o más.");
export const between = (least: number, most: number) => {
  const sentence = `Va de ${least} a ${most}.`;
  return z.number("Tiene que ser un número.").min(least, sentence).max(most, sentence);
};
export const toolName = z
  .string("Falta el nombre.")
  .regex(/^[\w-]{1,64}$/, "Un nombre tiene letras, cifras, _ y -, hasta 64.");
/** Anthropic's names may be twice as long as OpenAI's, and programs for Claude make use of it. */
export const longToolName = z
  .string("Falta el nombre.")
  .regex(/^[\w-]{1,128}$/, "Un nombre tiene letras, cifras, _ y -, hasta 128.");
export const jsonSchema = z.record(z.string(), z.unknown(), "Tiene que ser un esquema JSON.");
export const callId = z.string("Falta el id de la llamada.").max(200, "Es demasiado largo.");
/** Messages or items of a conversation; the size of the body bounds them, too. */
export const saidAtMost = 20_000;
const inline = /^data:image\/(?:png|jpe?g|webp|gif|avif);base64,([\w+/=\s-]+)$/;
/** An image as a `data:` address, in Base64. Other addresses are refused: this server would fetch any address that is named (SSRF). */
export const inlineImage = z
  .string("Tiene que ser un texto.")
  .regex(inline, "Las imágenes se envían dentro: data:image/…;base64,…")
  .transform((url) => inline.exec(url)?.[1] ?? "");

const inlineBytes = /^data:[\w.+-]{1,60}\/[\w.+-]{1,100};base64,([\w+/=\s-]+)$/;
/** The bytes of a file in Base64, from a `data:` address. */
export const inlineFile = z
  .string("Tiene que ser un texto.")
  .transform((address) => inlineBytes.exec(address)?.[1] ?? "")
  .refine(Boolean, "Los archivos se envían dentro: data:…;base64,…");
export const fileName = z.string("Tiene que ser un texto.").max(limits.fileName, "Es demasiado largo.");

/**
 * An object of a request: each of its fields reaches the model or is refused by its name. `refused`: sentences for some refused fields.
 * `withoutEffect`: fields that are accepted and ignored, because they change nothing in the answer.
 */
export function everyFieldOf<Shape extends z.ZodRawShape>(
  shape: Shape,
  { withoutEffect, refused = {} }: { withoutEffect: string[]; refused?: Record<string, string> },
) {
  const ignored = Object.fromEntries(withoutEffect.map((name) => [name, z.unknown().optional()]));
  const sentenceOf = (name: string) => refused[name] ?? `Aquí no hay «${name.slice(0, 60)}». Quítalo de la petición.`;
  const object = z.strictObject({ ...ignored, ...shape } as Shape, {
    error: (issue) => (issue.code === "unrecognized_keys" ? sentenceOf(String(listOf(issue.keys)[0])) : undefined),
  });
  return z.preprocess((given) => withoutNulls(given, shape), object);
}

/** A request without unknown fields of null: clients send all that their types have. */
function withoutNulls(given: unknown, shape: object): unknown {
  const fields = recordOf(given);
  if (!fields) return given;
  return Object.fromEntries(Object.entries(fields).filter(([name, value]) => name in shape || value !== null));
}

type FunctionTool = {
  name: string;
  description?: string | null | undefined;
  parameters?: Record<string, unknown> | null | undefined;
  strict?: boolean | null | undefined;
};

/** A program's tool as the providers' libraries expect it. */
export const functionTool = ({ name, description, parameters, strict }: FunctionTool): OfferedTool => ({
  type: "function",
  name,
  inputSchema: schemaForModels(parameters ?? {}) as OfferedTool["inputSchema"],
  ...(description && { description }),
  ...(strict != null && { strict }),
});

/** The choice of one tool. Throws 422 if it is not among `tools`. */
export function oneTool(name: string, tools: OfferedTool[]): ToolChoice {
  if (!tools.some((one) => one.name === name)) throw invalid("tool_choice", `No hay ninguna herramienta «${name}».`);
  return { type: "tool", toolName: name };
}

/** The tools that a program allows for this answer, of those that it offers all the time. Throws 422 if one is not among `tools`. */
export function allowedTools(
  names: string[],
  mode: "auto" | "required",
  tools: OfferedTool[],
): Pick<DoorRequest, "tools" | "toolChoice"> {
  for (const name of names) oneTool(name, tools);
  return { tools: tools.filter(({ name }) => names.includes(name)), toolChoice: { type: mode } };
}

/** An answer in JSON as the providers' libraries expect it. */
export const jsonFormat = (given: {
  schema?: Record<string, unknown> | null | undefined;
  name?: string | null | undefined;
  description?: string | null | undefined;
}): ResponseFormat => ({
  type: "json",
  ...(given.schema && { schema: given.schema as NonNullable<Extract<ResponseFormat, { type: "json" }>["schema"]> }),
  ...(given.name && { name: given.name }),
  ...(given.description && { description: given.description }),
});

/** The fields that have a value. */
export const definedFields = <Fields extends object>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null)) as {
    [Name in keyof Fields]?: NonNullable<Fields[Name]>;
  };

/** The prompt of a request. Throws 422 for the request's field `field` if it has content that this model can't be shown. */
export async function promptOf({ said: sent, tools }: DoorRequest, model: ModelRow, field: string): Promise<Prompt> {
  refuseMany(sent, field);
  const said = withNewest(model.acceptsImages ? sent : withoutFoundImages(sent, field));
  const turns: Prompt["turns"] = [];
  // Some providers refuse calls in a prompt that offers no tools: in that case the results of the calls are passed on as text.
  const withCalls = tools.length > 0;
  const names = new Map<string, string>();
  const ofTools: CallingTurn[] = [];
  const begin = said.findIndex(({ role }) => role !== "system");
  const [instructions, rest] = begin < 0 ? [said, []] : [said.slice(0, begin), said.slice(begin)];
  for (const one of withResultsFirst(rest)) {
    // Images and files that tools have found stand in a turn after all results of the same step, as results are text.
    if (one.role === "user" || one.role === "assistant") turns.push(...ofTools.splice(0));
    // Most providers take instructions only at the beginning; instructions in between are valid from their place on.
    if (one.role === "system") {
      const last = turns.at(-1);
      (last?.role === "tool" || hasCalls(last) ? ofTools : turns).push(...reminderOf(one.segments));
      continue;
    }
    const called = one.role === "assistant" ? (one.calls ?? []) : [];
    for (const { id, name } of called) names.set(id, name);
    const calls = withCalls ? called.map((call) => ({ ...call, input: wellFormedJson(call.input) })) : [];
    if (one.role !== "tool") {
      turns.push(...(await turnsOf(one.role, one.segments, field, { calls, ...(withCalls && thoughtsOf(one)) })));
      continue;
    }
    const content = textIn(one.segments);
    const name = names.get(one.callId);
    if (withCalls && !name)
      throw invalid(field, "Un resultado de herramienta no contesta a ninguna llamada anterior (tool_call_id).");
    if (withCalls && name) turns.push({ role: "tool", callId: one.callId, name, content });
    else turns.push({ role: "user", content: `Resultado de la herramienta${name ? ` «${name}»` : ""}:\n${content}` });
    const sent = one.segments.filter((segment) => !("text" in segment));
    ofTools.push(...(await turnsOf("user", sent, field)));
  }
  turns.push(...ofTools);
  const system = instructions.map(({ segments }) => textIn(segments)).join("\n\n");
  if (turns.length > 0) return { system, turns };
  // A request of instructions alone: providers want a message of the person.
  if (system.trim()) return { system: "", turns: [{ role: "user", content: system, images: [] }] };
  throw invalid(field, "Falta un mensaje de la persona.");
}

/** The conversation with the results of a step right behind its calls, as providers demand; what stood before or between them follows. */
function withResultsFirst(said: Said[]): Said[] {
  const ordered: Said[] = [];
  const rest: Said[] = [];
  for (const one of said) {
    if (one.role === "assistant") ordered.push(...rest.splice(0), one);
    else if (one.role === "tool") ordered.push(one);
    else rest.push(one);
  }
  return [...ordered, ...rest];
}

function reminderOf(segments: Segment[]): CallingTurn[] {
  const text = textIn(segments).trim();
  return text ? [{ role: "user", content: `<system-reminder>\n${text}\n</system-reminder>` }] : [];
}

const hasCalls = (turn: Prompt["turns"][number] | undefined) =>
  turn?.role === "assistant" && (turn.calls ?? []).length > 0;

// Images and files of a whole conversation that a model is shown: the newest ones, as agents send all screenshots again with each step.
const shownAtMost = 20;

/** The conversation with a line of text in the place of images and files that are no longer shown. */
function withNewest(said: Said[]): Said[] {
  const older = new Set(
    said.flatMap(({ segments }) => segments.filter((one) => !("text" in one))).slice(0, -shownAtMost),
  );
  if (older.size === 0) return said;
  const note = { text: "[Una imagen o un archivo de antes, que ya no se enseña.]" };
  return said.map((one) => ({
    ...one,
    segments: one.segments.map((segment) => (older.has(segment) ? note : segment)),
  }));
}

const textIn = (segments: Segment[]) => segments.flatMap((one) => ("text" in one ? [one.text] : [])).join("\n");

const thoughtsOf = (one: Said) => (one.role === "assistant" && one.thoughts?.length ? { thoughts: one.thoughts } : {});

/**
 * The conversation for a model that sees no images, with a line of text in the place of those that tools have found: a program sends them by
 * itself, and again with each step. Throws 422 for one of the person.
 */
function withoutFoundImages(said: Said[], field: string): Said[] {
  return said.map((one) => {
    if (!one.segments.some((segment) => "image" in segment)) return one;
    if (one.role !== "tool") throw invalid(field, "Este modelo no ve imágenes.");
    const note = { text: "[Una imagen, que este modelo no ve.]" };
    return { ...one, segments: one.segments.map((segment) => ("image" in segment ? note : segment)) };
  });
}

function refuseMany(said: Said[], field: string): void {
  if (said.some(({ segments }) => segments.filter((one) => !("text" in one)).length > shownAtMost)) {
    throw invalid(field, `Son más de ${shownAtMost} imágenes y archivos en un mensaje, que es lo que se admite.`);
  }
}

/**
 * Turns of the segments, in their order. A turn has its images before its text, so an image after a text begins a new turn. `last`: calls
 * and thoughts of the last turn.
 */
async function turnsOf(
  role: "user" | "assistant",
  segments: Segment[],
  field: string,
  last: Pick<CallingTurn, "calls" | "thoughts"> = {},
): Promise<CallingTurn[]> {
  let turn: { texts: string[]; images: Uint8Array[] } = { texts: [], images: [] };
  const groups = [turn];
  for (const segment of segments) {
    if ("image" in segment && turn.texts.length > 0) {
      turn = { texts: [], images: [] };
      groups.push(turn);
    }
    if ("text" in segment) turn.texts.push(segment.text);
    else if ("image" in segment) turn.images.push(await readImage(segment.image, field));
    else turn.texts.push(`«${segment.file.name}»:\n${await readFileText(segment.file, field)}`);
  }
  return groups.flatMap(({ texts, images }, index): CallingTurn[] => {
    const content = texts.join("\n");
    const more = index === groups.length - 1 ? last : {};
    const isEmpty = !content.trim() && images.length === 0 && !more.calls?.length && !more.thoughts?.length;
    return isEmpty ? [] : [{ role, content, images, ...more }];
  });
}
