import { createHash } from "node:crypto";
import type { Db } from "../../db/engine.server.ts";
import type { ModelRow } from "../../db/tables.ts";
import { listOf, parseJson, recordOf } from "../../process/text/json.ts";
import { ReplyError, toldBy } from "../errors.server.ts";

/**
 * Parameters that some servers refuse, by the names of the protocol. `max_tokens` alone is sent under its newer name,
 * `max_completion_tokens`; `json_schema` asks for JSON without a schema; `images` and `system` are parts of the messages; `thinking_with_tools`
 * asks for no thinking where tools are offered. Of earlier calls, `long_call_ids` get short ids, `unthought_calls` a thought, and
 * `unsigned_calls` the signature with which Google takes a call of another model.
 */
export const refusableParameters = [
  "max_tokens",
  "max_completion_tokens",
  "stream_options",
  "temperature",
  "reasoning_effort",
  "reasoning_summary",
  "thinking_with_tools",
  "response_format",
  "json_schema",
  "stop",
  "tool_choice",
  "tools",
  "reasoning_content",
  "cache_control",
  "images",
  "system",
  "long_call_ids",
  "unthought_calls",
  "unsigned_calls",
] as const;
export type Parameter = (typeof refusableParameters)[number];

/** The parameters of a stored list of names, such as `temperature stop`. */
export const parametersIn = (stored: string): Parameter[] =>
  refusableParameters.filter((name) => stored.split(/[\s,;]+/).includes(name));

const refusal =
  /unsupported|not (?:been )?(?:supported|permitted|allowed|enabled|available|recogni[sz]ed|implemented)|n[o']t support|unrecogni[sz]ed|unknown|unexpected|extra[ _](?:inputs|forbidden|fields)|invalid|deprecated|only the default|may only be|requires? --|too large|must be|failed to parse/i;
/** Words by which an error names a parameter. Short ones stand between quotes or in a path, as they are words of English, too. */
const named: Record<Parameter, RegExp> = {
  max_completion_tokens: /max_completion_tokens/,
  max_tokens: /max_tokens|max_output_tokens|maxOutputTokens/,
  stream_options: /stream_options|include_usage/,
  temperature: /temperature/i,
  reasoning_effort:
    /reasoning_effort|reasoning\.effort|thinkingConfig|thinking_config|thinking[_ ](?:budget|level)|thinking\.type|thinking (?:is not|may not be)|support thinking|\bthink value/i,
  // OpenAI gives summaries of thoughts only to organisations that it has verified.
  reasoning_summary: /reasoning\.summary|reasoning summaries/i,
  thinking_with_tools: /tools with reasoning_effort/i,
  json_schema: /json[ _]schema|strict.{0,20}schema/i,
  response_format: /response_format|text\.format|json[ _]mode/i,
  stop: /["'`[.]stop["'`\]]|stop_sequences/,
  tool_choice: /tool_choice/,
  // Clear words only: a match takes all tools of a model from everybody. Errors about one tool, too many tools or a choice must not match.
  tools:
    /(?:not|n't) support (?:native )?(?:tools?|functions?)(?![\s_-]?(?:choice|role|result|message))\b|(?:tool|function)[\s-](?:use|calling|calls) (?:is|are) not (?:supported|enabled)|requires? --(?:jinja|enable-auto-tool-choice)|support tool use|"loc"\s*:\s*\[\s*"body"\s*,\s*"(?:tools|functions)"\s*\]|"unsupported_parameter"[^}]{0,80}"param"\s*:\s*"tools"|"param"\s*:\s*"tools"[^}]{0,80}"unsupported_parameter"/i,
  cache_control: /cache_control/,
  // Groq's words for content in parts, in which images are sent.
  images: /image_url|image input|image content|multimodal input|content' : value must be a string/i,
  system: /(?:system|developer) (?:role|instructions?|messages?|prompts?)[^.]{0,40} not (?:supported|enabled|allowed)/i,
  reasoning_content: /reasoning_content|reasoning_details|property 'reasoning'|thinking_blocks|extra_content/,
  // Mistral; DeepSeek and Kimi; Gemini. Each also refuses the earlier calls of other models in the same conversation.
  long_call_ids: /must be a-z, A-Z, 0-9, with a length of 9/i,
  unthought_calls:
    /reasoning_content.{0,60}(?:is missing in assistant|must be passed back)|missing .{0,3}reasoning_content.{0,3} field in the assistant/i,
  unsigned_calls: /missing a .{0,3}thought_?signature/i,
};

/** The parameters because of which a server has refused a request, besides those that are `known`; none if it was for another reason. */
export function refusedIn(error: unknown, known: ReadonlySet<Parameter>): Parameter[] {
  const told = toldBy(error instanceof ReplyError ? error.cause : error);
  if (!told || [401, 402, 403, 429].includes(told.status ?? 400)) return [];
  const { said } = told;
  const kind = error instanceof ReplyError ? error.kind : undefined;
  if (kind === "images") return known.has("images") ? [] : ["images"];
  const [, param] = /"param"\s*:\s*"([\w.]{1,60})/.exec(said) ?? [];
  for (const name of ["tools", "thinking_with_tools", "long_call_ids", "unthought_calls", "unsigned_calls"] as const) {
    if (named[name].test(said)) return known.has(name) ? [] : [name];
  }
  // An error about a full window names its limit, too: the request is then repeated with less of the conversation.
  if (kind !== undefined && kind !== "parameter" && kind !== "broken") return [];
  // A parameter that is missing is refused in the same words; `invalid_request_error` stands in every refusal.
  if (/\b(?:missing|required|must be (?:passed|provided))\b/i.test(said)) return [];
  if (!refusal.test(said.replace(/invalid_?request(?:_?error)?/gi, ""))) return [];
  const exact = param && refusableParameters.find((name) => named[name].test(`"${param}"`));
  // The parameter that is named first is refused; another may be named as the one to use.
  const [first] = exact
    ? [exact]
    : refusableParameters
        .filter((name) => !known.has(name) && named[name].test(said))
        .sort((a, b) => said.search(named[a]) - said.search(named[b]));
  if (!first || known.has(first)) return [];
  // If the error does not name the newer parameter, the limit is left to the server.
  if (first === "max_tokens" && !/max_completion_tokens/.test(said)) return ["max_tokens", "max_completion_tokens"];
  return [first];
}

/** A request's body without the parameters that its server refuses. */
export function withoutRefused(body: string, refused: ReadonlySet<Parameter>): string {
  if (refused.size === 0) return body;
  const fields = recordOf(parseJson(body));
  if (!fields) return body;
  const most = fields.max_tokens ?? fields.max_completion_tokens;
  if (refused.has("max_tokens")) {
    delete fields.max_tokens;
    delete fields.max_output_tokens;
    if (most !== undefined) fields.max_completion_tokens = most;
  }
  if (refused.has("max_completion_tokens")) {
    delete fields.max_completion_tokens;
    if (most !== undefined && !refused.has("max_tokens")) fields.max_tokens = most;
  }
  for (const name of ["stream_options", "temperature", "stop", "tool_choice", "response_format"] as const) {
    if (refused.has(name)) delete fields[name];
  }
  if (refused.has("reasoning_effort")) {
    for (const name of ["reasoning_effort", "reasoning", "thinking"]) delete fields[name];
    delete recordOf(fields.output_config)?.effort;
  }
  if (refused.has("reasoning_summary")) delete recordOf(fields.reasoning)?.summary;
  const config = recordOf(fields.generationConfig);
  if (config) leaveOutOfGoogles(config, refused);
  if (refused.has("thinking_with_tools") && listOf(fields.tools).length > 0) fields.reasoning_effort = "none";
  if (refused.has("json_schema") && recordOf(fields.response_format)?.type === "json_schema") {
    fields.response_format = { type: "json_object" };
  }
  if (refused.has("tools"))
    for (const name of ["tools", "tool_choice", "parallel_tool_calls", "toolConfig"]) delete fields[name];
  if (refused.has("reasoning_content")) listOf(fields.messages).forEach(dropThoughts);
  for (const message of listOf(fields.messages)) adaptCalls(message, refused);
  if (refused.has("images"))
    for (const message of listOf(fields.messages ?? fields.input ?? fields.contents)) dropImages(message);
  if (refused.has("system") && Array.isArray(fields.messages)) fields.messages = withoutSystem(fields.messages);
  if (refused.has("cache_control"))
    return JSON.stringify(fields, (name, value) => (name === "cache_control" ? undefined : value));
  return JSON.stringify(fields);
}

/** Takes the refused parameters out of the `generationConfig` of a request of Google's. */
function leaveOutOfGoogles(config: Record<string, unknown>, refused: ReadonlySet<Parameter>): void {
  const names: Partial<Record<Parameter, string[]>> = {
    temperature: ["temperature"],
    stop: ["stopSequences"],
    reasoning_effort: ["thinkingConfig"],
    json_schema: ["responseSchema", "responseJsonSchema"],
    response_format: ["responseSchema", "responseJsonSchema", "responseMimeType"],
  };
  for (const parameter of refused) for (const name of names[parameter] ?? []) delete config[name];
}

function dropThoughts(message: unknown): void {
  const fields = recordOf(message);
  if (fields?.role !== "assistant") return;
  for (const name of Object.keys(fields)) if (/reason|think/i.test(name)) delete fields[name];
}

/** Puts the calls of a message, or the id of the call that it answers, into the form that a server wants. */
function adaptCalls(message: unknown, refused: ReadonlySet<Parameter>): void {
  const fields = recordOf(message);
  if (!fields) return;
  const calls = listOf(fields.tool_calls)
    .map(recordOf)
    .filter((call) => call !== undefined);
  if (refused.has("long_call_ids")) {
    for (const call of calls) call.id = shortId(call.id);
    if (fields.tool_call_id !== undefined) fields.tool_call_id = shortId(fields.tool_call_id);
  }
  // Kimi takes no empty thought.
  if (refused.has("unthought_calls") && calls.length > 0) fields.reasoning_content ||= fields.reasoning || " ";
  if (!refused.has("unsigned_calls")) return;
  for (const call of calls) {
    const google = recordOf(recordOf(call.extra_content)?.google);
    call.extra_content = { google: { thought_signature: "skip_thought_signature_validator", ...google } };
  }
}

const shortId = (id: unknown): unknown =>
  typeof id === "string" && !/^[a-zA-Z0-9]{9}$/.test(id)
    ? createHash("sha256").update(id).digest("hex").slice(0, 9)
    : id;

/** Puts a line of text in the place of each image of a message. */
function dropImages(message: unknown): void {
  const fields = recordOf(message);
  if (!fields) return;
  const text = "[Una imagen, que este modelo no puede ver.]";
  if (Array.isArray(fields.parts)) {
    fields.parts = fields.parts.map((part: unknown) =>
      /^image\//.test(String(recordOf(recordOf(part)?.inlineData)?.mimeType)) ? { text } : part,
    );
  }
  if (!Array.isArray(fields.content)) return;
  const parts = fields.content.map((part: unknown) => {
    const type = recordOf(part)?.type;
    const isImage = type === "image_url" || type === "image" || type === "input_image";
    return isImage ? { type: type === "input_image" ? "input_text" : "text", text } : part;
  });
  // Servers of models without images may take nothing but a text.
  const texts = parts.flatMap((part: unknown) =>
    recordOf(part)?.type === "text" ? [String(recordOf(part)?.text)] : [],
  );
  fields.content = texts.length === parts.length ? texts.join("\n") : parts;
}

/** Messages whose instructions stand at the beginning of the person's first one. */
function withoutSystem(messages: unknown[]): unknown[] {
  const isSystem = (message: unknown) => /^(?:system|developer)$/.test(String(recordOf(message)?.role));
  const said = messages.filter(isSystem).flatMap((message) => recordOf(message)?.content ?? []);
  const textOf = (part: unknown) => (typeof part === "string" ? part : recordOf(part)?.text);
  const others = messages.filter((message) => !isSystem(message));
  const first = recordOf(others.find((message) => recordOf(message)?.role === "user"));
  const instructions = said.map(textOf).filter(Boolean).join("\n\n");
  if (!first || !instructions) return others;
  if (typeof first.content === "string") first.content = `${instructions}\n\n${first.content}`;
  else first.content = [{ type: "text", text: instructions }, ...listOf(first.content)];
  return others;
}

// Parameters that each model has refused in this process, by its version: an administrator may have changed them meanwhile.
const learned = new Map<string, Set<Parameter>>();
const keptLearned = 1_000;

type Refusing = Pick<ModelRow, "id" | "updatedAt" | "refused">;

/** The parameters that are not sent to a model: those of its row, and those that it has refused since the row was read. */
export function refusedBy({ id, updatedAt, refused }: Refusing): Set<Parameter> {
  return new Set([...parametersIn(refused), ...(learned.get(`${id} ${updatedAt}`) ?? [])]);
}

/** Notes what a model has refused, for this process. */
export function noteRefused({ id, updatedAt }: Refusing, parameters: Parameter[]): void {
  const key = `${id} ${updatedAt}`;
  if (learned.size >= keptLearned) learned.clear();
  learned.set(key, new Set([...(learned.get(key) ?? []), ...parameters]));
}

/**
 * Stores with a model what it has refused, so that its form shows it and other processes know. A model that takes no tools or no images
 * is no longer offered any. Does not count as a change by an administrator.
 */
export async function storeRefused(db: Db, model: Pick<ModelRow, "id">, parameters: Parameter[]): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const row = await trx.selectFrom("models").where("id", "=", model.id).select("refused").executeTakeFirst();
    if (!row) return;
    const all = new Set([...parametersIn(row.refused), ...parameters]);
    const takesNoTools = all.delete("tools");
    const seesNoImages = all.delete("images");
    const refused = refusableParameters.filter((name) => all.has(name)).join(" ");
    await trx
      .updateTable("models")
      .set({ refused, ...(takesNoTools && { usesTools: 0 }), ...(seesNoImages && { acceptsImages: 0 }) })
      .where("id", "=", model.id)
      .execute();
  });
}

/** Whether a server has refused a request because it can't read the schemas of the tools, without a word about which. */
export function refusesSchemas(error: unknown): boolean {
  const { said = "" } = toldBy(error instanceof ReplyError ? error.cause : error) ?? {};
  return /schema conversion failed|unrecognized schema|pattern must start with|failed to (?:parse|initialize) (?:grammar|samplers)|flavored json schema|json schema not supported|unknown \(built-in\) filter|cannot unmarshal [^.]{1,120}parameters|property '[^']{1,80}' is not defined|conflicting keywords/i.test(
    said,
  );
}

/** Whether a refusal in unknown words may be about how tools are described. */
export function speaksOfTools(error: unknown): boolean {
  const { said = "", status } = toldBy(error instanceof ReplyError ? error.cause : error) ?? {};
  const isRefusal = error instanceof ReplyError && (error.kind === "parameter" || error.kind === "broken");
  if (!isRefusal || ![400, 422, 500].includes(status ?? 400)) return false;
  return /\b(?:tools?|functions?)\b/i.test(said) && /\b(?:schema|parameters|properties)\b/i.test(said);
}

/**
 * The tool because of whose description a server has refused a request, by its place or its name in the error, as OpenAI, Anthropic,
 * Google and Mistral give it; undefined if it was for another reason.
 */
export function refusedToolIn(error: unknown, tools: { name: string }[]): string | undefined {
  const told = toldBy(error instanceof ReplyError ? error.cause : error);
  if (!told || ![400, 422, 500].includes(told.status ?? 400)) return undefined;
  const { said } = told;
  if (!/schema|parameters|properties|invalid|input_schema|pattern/i.test(said)) return undefined;
  // Groq's words for a call that the model has written wrongly.
  if (/tool_use_failed|failed_generation|tool call validation/i.test(said)) return undefined;
  const [, place] = /(?:tools|functions|function_declarations)(?:\[|\.|"\s*,\s*)(\d{1,3})\b/.exec(said) ?? [];
  const declared = /function_declarations\[(\d{1,3})\]/.exec(said)?.[1];
  const byPlace = tools[Number(declared ?? place ?? Number.NaN)];
  const byName = tools.find(({ name }) => new RegExp(`(?:function|tool)[^\\w]{1,4}${name}\\b`, "i").test(said));
  return (byName ?? byPlace)?.name;
}
