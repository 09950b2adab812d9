import { setTimeout } from "node:timers/promises";
import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import { usableBy } from "../../db/people/groups.server.ts";
import type { ModelRow } from "../../db/tables.ts";
import { pullStream, withPauses } from "../../http/pull-stream.server.ts";
import { limits } from "../../process/limits.ts";
import type { ReplyUsage } from "../../replies/chunk.ts";
import { completePrompt } from "../../replies/completion.server.ts";
import { ReplyError } from "../../replies/errors.server.ts";
import type { ImagePiece, Piece } from "../../replies/providers/model-call.server.ts";
import { readWhole } from "../../replies/providers/providers.server.ts";
import type { Tool } from "../../tools/tool.server.ts";
import type { ApiEnv, Services } from "../env.server.ts";
import { active, signedIn } from "../http/authentication.server.ts";
import { takesBodyOf } from "../http/bodies.server.ts";
import { answerInvalid, asOpenAi, invalid, Problem } from "../http/problem.server.ts";
import { answers, bearer, bytes, takes } from "../http/schemas.server.ts";
import { whileSignedIn } from "../http/while-signed-in.server.ts";
import {
  asked,
  type DoorRequest,
  formatOf,
  houseToolsIn,
  promptOf,
  toolsOf,
} from "./chat-completion-request.server.ts";
import { forOpenAi } from "./openai-clients.server.ts";

const usage = z.object({
  prompt_tokens: z.number(),
  completion_tokens: z.number(),
  total_tokens: z.number(),
  completion_tokens_details: z.object({ reasoning_tokens: z.number() }).optional(),
});
const completion = z
  .object({
    id: z.string(),
    object: z.literal("chat.completion"),
    created: z.number(),
    model: z.string(),
    choices: z.array(
      z.object({
        index: z.number(),
        message: z.object({
          role: z.literal("assistant"),
          content: z.string().nullable().openapi({ description: "null si el modelo solo llama a herramientas." }),
          reasoning_content: z.string().optional().openapi({ description: "Lo que el modelo ha pensado antes." }),
          images: z
            .array(z.object({ type: z.literal("image_url"), image_url: z.object({ url: z.string() }) }))
            .optional()
            .openapi({ description: "Las imágenes que el modelo ha hecho, como direcciones `data:`." }),
          tool_calls: z
            .array(
              z.object({
                id: z.string(),
                type: z.literal("function"),
                function: z.object({ name: z.string(), arguments: z.string() }),
              }),
            )
            .optional()
            .openapi({ description: "Las llamadas que el programa tiene que hacer." }),
        }),
        finish_reason: z.string(),
      }),
    ),
    usage,
  })
  .openapi("ChatCompletion");
const listedModel = z
  .object({ id: z.string(), object: z.literal("model"), created: z.number(), owned_by: z.string() })
  .openapi("OpenAiModel");
const listed = z.object({ object: z.literal("list"), data: z.array(listedModel) }).openapi("OpenAiModels");

const common = { security: bearer, middleware: [forOpenAi, signedIn, active] };

const listOfferedRoute = createRoute({
  method: "get",
  path: "/models",
  ...common,
  responses: { 200: answers(listed, "Los modelos disponibles, como los lista OpenAI.") },
});
const listOffered: RouteHandler<typeof listOfferedRoute, ApiEnv> = async (c) => {
  const rows = await offered(c.var.services, c.var.person.id);
  return c.json({ object: "list" as const, data: rows.map(listModel) }, 200);
};

const showOfferedRoute = createRoute({
  method: "get",
  path: "/models/{id}",
  ...common,
  request: { params: z.object({ id: z.string().max(500, "Es demasiado largo.") }) },
  responses: { 200: answers(listedModel, "Un modelo, como lo cuenta OpenAI.") },
});
const showOffered: RouteHandler<typeof showOfferedRoute, ApiEnv> = async (c) =>
  c.json(listModel(await named(c.var.services, c.var.person.id, c.req.valid("param").id)), 200);

const completeRoute = createRoute({
  method: "post",
  path: "/chat/completions",
  security: bearer,
  middleware: [forOpenAi, signedIn, active, takesBodyOf(limits.completionBody)],
  request: { body: takes(asked) },
  responses: {
    200: {
      content: { "application/json": { schema: completion }, "text/event-stream": { schema: bytes } },
      description: "La respuesta; con `stream`, sus trozos.",
    },
  },
});
const complete: RouteHandler<typeof completeRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const given = c.req.valid("json");
  const model = await modelOf(services, person.id, given);
  const prompt = await promptOf(given, model);
  const { signal, leave } = whileSignedIn(services, person, c.req.raw.signal);
  const stop = [given.stop ?? []].flat();
  const responseFormat = formatOf(given);
  const house = await houseTools(services, person.id, houseToolsIn(given));
  const options = { stop, responseFormat, house, toolChoice: undefined, ...toolsOf(given) };
  const pieces = await completePrompt(services, { ...options, userId: person.id, model, prompt, signal, onEnd: leave });
  const first = pieces.next();
  // Avoids an unhandled rejection; the result is awaited below or by the stream.
  first.catch(() => {});
  const about = { id: `chatcmpl-${c.var.requestId}`, created: Math.floor(Date.now() / 1000), model: given.model };
  if (given.stream) {
    // Refusals come soon and get their own status. For a model that thinks longer, the response begins.
    await Promise.race([first, setTimeout(firstWait, undefined, { ref: false })]).catch((error) =>
      refused(error, signal),
    );
    const events = toEvents(about, resumed(first, pieces), Boolean(given.stream_options?.include_usage));
    return c.body(
      pullStream(events, () => pieces.return(undefined)),
      200,
      {
        "Content-Type": "text/event-stream; charset=utf-8",
        "X-Accel-Buffering": "no",
      },
    );
  }
  return c.json(await collect(about, resumed(first, pieces), signal), 200);
};

/**
 * Chat completions for programs that speak OpenAI's protocol (platform.openai.com/docs/api-reference/chat): text and images in,
 * one answer.
 */
export const chatCompletions = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(listOfferedRoute, listOffered)
  .openapi(showOfferedRoute, showOffered)
  .openapi(completeRoute, complete);

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

/**
 * The models that are offered to a person's programs: all of theirs but the local assistant, which has nothing to search here.
 */
const offered = ({ db }: Services, userId: string): Promise<ModelRow[]> =>
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

const firstWait = 1_000;

const listModel = (row: ModelRow) => ({
  id: row.externalId,
  object: "model" as const,
  created: Math.floor(row.createdAt / 1000),
  owned_by: row.provider,
});

/** A model by the provider's name for it, by its name here, or by its id. Throws 404. */
async function named(services: Services, userId: string, name: string): Promise<ModelRow> {
  const models = await offered(services, userId);
  const by = (column: "externalId" | "name" | "id") => models.find((row) => row[column] === name);
  const found = by("externalId") ?? by("name") ?? by("id");
  if (!found) throw new Problem(404, `El modelo «${name.slice(0, 100)}» no existe aquí.`, { code: "model_not_found" });
  return found;
}

/** The model with the settings of the request applied. */
async function modelOf(services: Services, userId: string, given: DoorRequest): Promise<ModelRow> {
  const found = await named(services, userId, given.model);
  const most = given.max_completion_tokens ?? given.max_tokens ?? found.maxOutputTokens;
  return {
    ...found,
    temperature: given.temperature ?? found.temperature,
    maxOutputTokens: Math.min(most, found.maxOutputTokens),
  };
}

/** Rethrows a model's failure as a Problem. A client that left is no failure. */
function refused(error: unknown, signal: AbortSignal): never {
  if (signal.aborted) throw new Problem(400, "Quien preguntaba se ha ido.");
  if (!(error instanceof ReplyError)) throw error;
  throw failed(error);
}

/** With OpenAI's code for prompts that are too long, because its clients then shorten them. */
const failed = (error: ReplyError) =>
  error.kind === "too-long"
    ? new Problem(400, error.message, { code: "context_length_exceeded" })
    : new Problem(error.status, error.message, {
        ...(error.retryAfter !== undefined && { headers: { "Retry-After": String(Math.ceil(error.retryAfter)) } }),
      });

async function* resumed(first: Promise<IteratorResult<Piece>>, rest: AsyncGenerator<Piece>): AsyncGenerator<Piece> {
  const { done, value } = await first;
  if (done) return;
  yield value;
  yield* rest;
}

type Used = z.output<typeof usage>;
type About = { id: string; created: number; model: string };

const usedTokens = ({ inputTokens = 0, outputTokens = 0, reasoningTokens }: Partial<ReplyUsage>): Used => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
  ...(reasoningTokens !== undefined && { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
});

/** As OpenRouter's API has it (openrouter.ai/docs/features/multimodal/image-generation). */
const asImage = ({ mediaType, bytes }: ImagePiece) => ({
  type: "image_url" as const,
  image_url: { url: `data:${mediaType};base64,${Buffer.from(bytes).toString("base64")}` },
});

async function collect(
  about: About,
  pieces: AsyncGenerator<Piece>,
  signal: AbortSignal,
): Promise<z.output<typeof completion>> {
  const { text, thought, images, calls, usage, reason } = await readWhole(pieces).catch((error) =>
    refused(error, signal),
  );
  const tool_calls = calls.map(({ id, name, input }) => ({
    id,
    type: "function" as const,
    function: { name, arguments: input },
  }));
  const message = {
    role: "assistant" as const,
    content: text || calls.length === 0 ? text : null,
    ...(thought && { reasoning_content: thought }),
    ...(images.length > 0 && { images: images.map(asImage) }),
    ...(calls.length > 0 && { tool_calls }),
  };
  const choice = { index: 0, message, finish_reason: reason };
  return { ...about, object: "chat.completion", choices: [choice], usage: usedTokens(usage) };
}

async function* toEvents(about: About, pieces: AsyncGenerator<Piece>, withUsage: boolean): AsyncGenerator<string> {
  const event = (more: object) => `data: ${JSON.stringify({ ...about, object: "chat.completion.chunk", ...more })}\n\n`;
  const delta = (said: object, reason: string | null = null) =>
    event({ choices: [{ index: 0, delta: said, finish_reason: reason }] });
  yield delta({ role: "assistant", content: "" });
  try {
    for await (const piece of withPauses(pieces)) {
      if (!piece) yield ": \n\n";
      else if (piece.type === "text") yield delta({ content: piece.text });
      // As DeepSeek and llama.cpp's server name it.
      else if (piece.type === "reasoning") yield delta({ reasoning_content: piece.text });
      else if (piece.type === "image") yield delta({ images: [asImage(piece)] });
      else if (piece.type === "call") {
        const { index, id, name } = piece;
        yield delta({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] });
      } else if (piece.type === "call-input") {
        yield delta({ tool_calls: [{ index: piece.index, function: { arguments: piece.text } }] });
      } else if (piece.type === "finish") {
        yield delta({}, piece.reason);
        if (withUsage) yield event({ choices: [], usage: usedTokens(piece.usage) });
      }
    }
  } catch (error) {
    if (!(error instanceof ReplyError)) throw error;
    // The response has begun: OpenAI's clients also accept an error in the stream.
    yield `data: ${JSON.stringify({ error: asOpenAi(failed(error)) })}\n\n`;
  }
  yield "data: [DONE]\n\n";
}
