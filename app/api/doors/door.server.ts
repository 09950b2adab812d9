import { setTimeout } from "node:timers/promises";
import type { Context } from "hono";
import { usableBy } from "../../db/people/groups.server.ts";
import type { ModelRow } from "../../db/tables.ts";
import { completePrompt } from "../../replies/completion.server.ts";
import { ReplyError } from "../../replies/errors.server.ts";
import type { Piece } from "../../replies/providers/model-call.server.ts";
import type { Parameter } from "../../replies/providers/refused-parameters.server.ts";
import type { Tool } from "../../tools/tool.server.ts";
import type { ApiEnv, Services } from "../env.server.ts";
import { invalid, Problem } from "../http/problem.server.ts";
import { whileSignedIn } from "../http/while-signed-in.server.ts";
import { type DoorRequest, promptOf } from "./door-request.server.ts";
import { rememberStep, withRemembered } from "./thoughts/remembered-steps.server.ts";

/** Names that a protocol uses for fields with other names in chat completions. */
export type Names = Record<string, string>;

/** Answer of a model to a program; `failed` turns an error into the Problem that the program reads. */
export type Asking = { model: ModelRow; pieces: AsyncGenerator<Piece>; failed: (error: unknown) => Problem };

// In ms. A refusal within this time gets its own status; if the model thinks longer, the response begins without waiting for it.
const firstWait = 1_000;

/**
 * Asks a model of the house on behalf of a program. With `stream`, resolves once the model has begun, or after a second; a refusal until
 * then is thrown as a Problem. Throws 404 for a model that is not there, 422 for a request that the model can't answer, LimitReached.
 */
export async function askThrough(
  c: Context<ApiEnv>,
  request: DoorRequest,
  { names = {}, stream }: { names?: Names; stream: boolean },
): Promise<Asking> {
  const { person, services } = c.var;
  const model = withSettings(await named(services, person.id, request.model), request);
  const asker = { userId: person.id, modelId: model.id };
  const known = { ...request, said: withRemembered(asker, request.said) };
  const prompt = await promptOf(known, model, names.messages ?? "messages");
  const house = await houseTools(services, person.id, request.house);
  const { signal, leave } = whileSignedIn(services, person, c.req.raw.signal);
  const { tools, toolChoice, stop, responseFormat, settings } = request;
  if (toolChoice?.type === "required" && tools.length === 0 && house.length === 0) {
    throw invalid("tool_choice", "Pide que se use una herramienta, y no se ofrece ninguna.");
  }
  const pieces = await completePrompt(services, {
    userId: person.id,
    model,
    prompt,
    tools,
    toolChoice,
    house,
    stop,
    responseFormat,
    // A schema is strict only where the program says so, as at OpenAI.
    settings: { strictJsonSchema: false, ...settings },
    required: requiredOf(request),
    // Programs also ask only whether a model is there, with a limit of a few tokens, and agents end a task without a word.
    mayBeEmpty: ["stop", "length"],
    signal,
    onEnd: leave,
    // Calls of the house are answered here.
    ...(tools.length > 0 && house.length === 0 && { called: (calls) => rememberStep(asker, calls) }),
  });
  const failed = (error: unknown) => problemOf(error, signal, names);
  const first = pieces.next();
  // Avoids an unhandled rejection; the result is awaited below or by the reader.
  first.catch(() => {});
  if (stream) {
    await Promise.race([first, setTimeout(firstWait, undefined, { ref: false })]).catch((error) => {
      throw failed(error);
    });
  }
  return { model, pieces: resumed(first, pieces), failed };
}

/** A generator whose first result has already been requested. Written as an object, because a generator function costs a step per token. */
function resumed(first: Promise<IteratorResult<Piece>>, rest: AsyncGenerator<Piece>): AsyncGenerator<Piece> {
  let asked: typeof first | undefined = first;
  return {
    next: () => {
      const next = asked ?? rest.next();
      asked = undefined;
      return next;
    },
    return: (value) => rest.return(value),
    throw: (error) => rest.throw(error),
    [Symbol.asyncDispose]: () => rest[Symbol.asyncDispose](),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

const withSettings = (model: ModelRow, { temperature, maxTokens }: DoorRequest): ModelRow => ({
  ...model,
  temperature: temperature ?? model.temperature,
  maxOutputTokens: Math.min(maxTokens ?? model.maxOutputTokens, model.maxOutputTokens),
});

/** The parameters that a request has set and that some models do not take, without the `wishes`. */
function requiredOf({
  temperature,
  settings,
  stop,
  toolChoice,
  responseFormat,
  wishes = [],
}: DoorRequest): Parameter[] {
  const isSchema = responseFormat?.type === "json" && responseFormat.schema !== undefined;
  const isChosen = toolChoice !== undefined && toolChoice.type !== "auto";
  const given: [Parameter, boolean][] = [
    ["temperature", temperature !== undefined],
    ["reasoning_effort", settings.reasoning !== undefined],
    ["stop", stop.length > 0],
    ["tool_choice", isChosen],
    ["response_format", responseFormat !== undefined],
    ["json_schema", isSchema],
  ];
  return given.flatMap(([name, isGiven]) => (isGiven && !wishes.includes(name) ? [name] : []));
}

/** Tools of the house by their names. Throws 422 for one that is not there, or that a person would have to be asked about. */
async function houseTools({ toolbox }: Services, userId: string, names: string[]): Promise<Tool[]> {
  if (names.length === 0) return [];
  const { tools: all } = await toolbox.offered(userId, []);
  return names.map((name) => {
    const found = all.find((tool) => tool.name === name);
    if (!found) throw invalid("tools", `Aquí no hay ninguna herramienta «${name}».`);
    if (found.asks || !found.readOnly)
      throw invalid("tools", `«${name}» pregunta antes, y aquí no hay a quién preguntar.`);
    return found;
  });
}

/** The models that a person's programs may ask: all of theirs but the local assistant, which has nothing to search here. */
export const offeredModels = ({ db }: Services, userId: string): Promise<ModelRow[]> =>
  db
    .selectFrom("models")
    .where("enabled", "=", 1)
    .where("provider", "!=", "local")
    .where(usableBy("models", userId))
    .orderBy("isDefault", "desc")
    .orderBy("position")
    .orderBy("id")
    .selectAll()
    .execute();

/** A model by the provider's name for it, by its name here, or by its id. Throws 404. */
export async function named(services: Services, userId: string, name: string): Promise<ModelRow> {
  const models = await offeredModels(services, userId);
  // Ollama's clients add the tag that stands for none.
  const bare = name.replace(/:latest$/, "");
  const by = (column: "externalId" | "name" | "id") =>
    models.find((row) => row[column] === name) ?? models.find((row) => row[column] === bare);
  const found = by("externalId") ?? by("name") ?? by("id");
  if (!found) throw new Problem(404, `El modelo «${name.slice(0, 100)}» no existe aquí.`, { code: "model_not_found" });
  return found;
}

/** A model's failure as a Problem; other errors are thrown. A client that left is no failure. `signal`: of its request. */
export function problemOf(error: unknown, signal: AbortSignal, names: Names = {}): Problem {
  if (signal.aborted) return new Problem(400, "Quien preguntaba se ha ido.");
  if (error instanceof Problem) return error;
  if (!(error instanceof ReplyError)) throw error;
  const { message, parameter, retryAfter } = error;
  if (parameter !== undefined) {
    const name = names[parameter] ?? parameter;
    return invalid(name, message.replace(`«${parameter}»`, `«${name}»`));
  }
  // With OpenAI's code for prompts that are too long, because its clients then shorten them.
  if (error.kind === "too-long") return new Problem(400, message, { code: "context_length_exceeded" });
  return new Problem(error.status, message, {
    ...(error.status === 429 && { code: "rate_limit_exceeded" }),
    ...(retryAfter !== undefined && { headers: { "Retry-After": String(Math.ceil(retryAfter)) } }),
  });
}
