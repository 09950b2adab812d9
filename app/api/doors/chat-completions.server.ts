import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import type { ModelRow } from "../../db/tables.ts";
import { pullStream, withPauses } from "../../http/pull-stream.server.ts";
import { limits } from "../../process/limits.ts";
import type { ReplyUsage } from "../../replies/chunk.ts";
import type { ImagePiece } from "../../replies/providers/model-call.server.ts";
import { readWhole } from "../../replies/providers/providers.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { active, signedIn } from "../http/authentication.server.ts";
import { takesBodyOf } from "../http/bodies.server.ts";
import { answerInvalid, asOpenAi } from "../http/problem.server.ts";
import { answers, bearer, bytes, takes } from "../http/schemas.server.ts";
import { asked, completionRequest } from "./chat-completion-request.server.ts";
import { type Asking, askThrough, named, offeredModels } from "./door.server.ts";
import { eventStream, forOpenAi } from "./openai-clients.server.ts";

const usage = z.object({
  prompt_tokens: z.number(),
  completion_tokens: z.number(),
  total_tokens: z.number(),
  prompt_tokens_details: z.object({ cached_tokens: z.number() }).optional(),
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
          content: z
            .string()
            .nullable()
            .openapi({ description: "null si el modelo solo llama a herramientas, o no quiere responder." }),
          refusal: z.string().nullable().openapi({ description: "Con qué palabras no quiere responder el modelo." }),
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
        logprobs: z.null(),
        finish_reason: z.string(),
      }),
    ),
    usage,
  })
  .openapi("ChatCompletion");
// OpenAI's fields first, then those of Anthropic's clients.
const listedModel = z
  .object({
    id: z.string(),
    object: z.literal("model"),
    created: z.number(),
    owned_by: z.string(),
    type: z.literal("model"),
    display_name: z.string(),
    created_at: z.string(),
  })
  .openapi("OpenAiModel");
const listed = z
  .object({
    object: z.literal("list"),
    data: z.array(listedModel),
    has_more: z.literal(false),
    models: z.array(z.string()).optional().openapi({ description: "Vacía, y solo para Codex." }),
  })
  .openapi("OpenAiModels");

const common = { security: bearer, middleware: [forOpenAi, signedIn, active] };

const listOfferedRoute = createRoute({
  method: "get",
  path: "/models",
  ...common,
  request: { query: z.object({ client_version: z.string().optional() }) },
  responses: { 200: answers(listed, "Los modelos disponibles, como los listan OpenAI y Anthropic.") },
});
const listOffered: RouteHandler<typeof listOfferedRoute, ApiEnv> = async (c) => {
  const data = (await offeredModels(c.var.services, c.var.person.id)).map(listModel);
  // Codex wants a catalogue of its own, with its instructions for each model. It uses what it brings along where there is none.
  const isCodex = c.req.valid("query").client_version !== undefined;
  return c.json({ object: "list" as const, data, has_more: false as const, ...(isCodex && { models: [] }) }, 200);
};

const showOfferedRoute = createRoute({
  method: "get",
  path: "/models/{id}",
  ...common,
  request: { params: z.object({ id: z.string().max(500, "Es demasiado largo.") }) },
  responses: { 200: answers(listedModel, "Un modelo, como lo cuentan OpenAI y Anthropic.") },
});
// Models of compatible servers have slashes in their names, which some programs leave as they are.
const showSlashedRoute = createRoute({ ...showOfferedRoute, path: "/models/{id{.+}}", hide: true });
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
  const given = c.req.valid("json");
  const asking = await askThrough(c, completionRequest(given), { stream: Boolean(given.stream) });
  const about = { id: `chatcmpl-${c.var.requestId}`, created: Math.floor(Date.now() / 1000), model: given.model };
  if (!given.stream) return c.json(await collect(about, asking), 200);
  const events = toEvents(about, asking, Boolean(given.stream_options?.include_usage));
  return c.body(
    pullStream(events, () => asking.pieces.return(undefined)),
    200,
    eventStream,
  );
};

/**
 * Chat completions for programs that speak OpenAI's protocol (platform.openai.com/docs/api-reference/chat): text and images in,
 * one answer.
 */
export const chatCompletions = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(listOfferedRoute, listOffered)
  .openapi(showOfferedRoute, showOffered)
  .openapi(showSlashedRoute, showOffered)
  .openapi(completeRoute, complete);

const listModel = (row: ModelRow) => ({
  id: row.externalId,
  object: "model" as const,
  created: Math.floor(row.createdAt / 1000),
  owned_by: row.provider,
  type: "model" as const,
  display_name: row.name,
  created_at: new Date(row.createdAt).toISOString(),
});

type Used = z.output<typeof usage>;
type About = { id: string; created: number; model: string };

const usedTokens = ({
  inputTokens = 0,
  outputTokens = 0,
  reasoningTokens,
  cachedTokens,
}: Partial<ReplyUsage>): Used => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
  ...(cachedTokens !== undefined && { prompt_tokens_details: { cached_tokens: cachedTokens } }),
  ...(reasoningTokens !== undefined && { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
});

/** An image in the format of OpenRouter's API (openrouter.ai/docs/features/multimodal/image-generation). */
const asImage = ({ mediaType, bytes }: ImagePiece) => ({
  type: "image_url" as const,
  image_url: { url: `data:${mediaType};base64,${Buffer.from(bytes).toString("base64")}` },
});

async function collect(about: About, { pieces, failed }: Asking): Promise<z.output<typeof completion>> {
  const { text, isRefusal, thought, images, calls, usage, reason } = await readWhole(pieces).catch((error) => {
    throw failed(error);
  });
  const tool_calls = calls.map(({ id, name, input }) => ({
    id,
    type: "function" as const,
    function: { name, arguments: input || "{}" },
  }));
  const message = {
    role: "assistant" as const,
    content: !isRefusal && (text || calls.length === 0) ? text : null,
    refusal: isRefusal ? text : null,
    ...(thought && { reasoning_content: thought }),
    ...(images.length > 0 && { images: images.map(asImage) }),
    ...(calls.length > 0 && { tool_calls }),
  };
  const choice = { index: 0, message, logprobs: null, finish_reason: isRefusal ? "stop" : reason };
  return { ...about, object: "chat.completion", choices: [choice], usage: usedTokens(usage) };
}

async function* toEvents(about: About, { pieces, failed }: Asking, withUsage: boolean): AsyncGenerator<string> {
  const event = (more: object) => `data: ${JSON.stringify({ ...about, object: "chat.completion.chunk", ...more })}\n\n`;
  const delta = (said: object, reason: string | null = null) =>
    event({ choices: [{ index: 0, delta: said, logprobs: null, finish_reason: reason }] });
  // Calls without an input so far. They get an empty object at the end, as programs parse the input.
  const bare = new Set<number>();
  let isRefusal = false;
  yield delta({ role: "assistant", content: "" });
  try {
    for await (const piece of withPauses(pieces)) {
      if (!piece) yield ": \n\n";
      else if (piece.type === "text") {
        isRefusal ||= piece.isRefusal === true;
        yield delta(piece.isRefusal ? { refusal: piece.text } : { content: piece.text });
      }
      // DeepSeek and llama.cpp's server use this field name.
      else if (piece.type === "reasoning") yield delta({ reasoning_content: piece.text });
      else if (piece.type === "image") yield delta({ images: [asImage(piece)] });
      else if (piece.type === "call") {
        const { index, id, name } = piece;
        bare.add(index);
        yield delta({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] });
      } else if (piece.type === "call-input") {
        bare.delete(piece.index);
        yield delta({ tool_calls: [{ index: piece.index, function: { arguments: piece.text } }] });
      } else if (piece.type === "finish") {
        for (const index of bare) yield delta({ tool_calls: [{ index, function: { arguments: "{}" } }] });
        yield delta({}, isRefusal ? "stop" : piece.reason);
        if (withUsage) yield event({ choices: [], usage: usedTokens(piece.usage) });
      }
    }
  } catch (error) {
    // The response has begun: OpenAI's clients also accept an error in the stream.
    yield `data: ${JSON.stringify({ error: asOpenAi(failed(error)) })}\n\n`;
  }
  yield "data: [DONE]\n\n";
}
