import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import { createMiddleware } from "hono/factory";
import type { ModelRow } from "../../../db/tables.ts";
import { pullStream, withPauses } from "../../../http/pull-stream.server.ts";
import { limits } from "../../../process/limits.ts";
import { objectOf } from "../../../process/text/json.ts";
import type { Finish, ImagePiece, ToolCall } from "../../../replies/providers/model-call.server.ts";
import { readWhole } from "../../../replies/providers/providers.server.ts";
import { ToolCalls } from "../../../replies/providers/tool-calls.server.ts";
import type { ApiEnv } from "../../env.server.ts";
import { active, signedIn } from "../../http/authentication.server.ts";
import { takesBodyOf } from "../../http/bodies.server.ts";
import { answerInvalid, invalid } from "../../http/problem.server.ts";
import { answers, bearer, bytes, takes } from "../../http/schemas.server.ts";
import { type Asking, askThrough, named, offeredModels } from "../door.server.ts";
import { embedFor } from "../embeddings.server.ts";
import { askedChat, askedEmbed, askedEmbedding, askedShow, chatRequest } from "./ollama-request.server.ts";

/** Middleware for routes of Ollama's clients: `error` is a sentence, beside our own fields. */
const forOllama = createMiddleware<ApiEnv>(async (c, next) => {
  c.set("errorsOf", "ollama");
  await next();
});
const common = { security: bearer, middleware: [forOllama, signedIn, active] };
const withBody = {
  security: bearer,
  middleware: [forOllama, signedIn, active, takesBodyOf(limits.completionBody)],
};

// Clients ask for it to know what the server can do: the first version with everything that is offered here.
const version = "0.12.0";

// Typed as a string, because the router's types take it for JSON.
const lines: string = "application/x-ndjson";

const details = z.object({
  format: z.string(),
  family: z.string(),
  families: z.array(z.string()).nullable(),
  parameter_size: z.string(),
  quantization_level: z.string(),
});
// Of a file that programs can't have.
const noDetails = { format: "", family: "", families: null, parameter_size: "", quantization_level: "" };
const listed = z.object({
  name: z.string(),
  model: z.string(),
  modified_at: z.string(),
  size: z.number(),
  digest: z.string(),
  details,
});
const call = z.object({
  id: z.string(),
  function: z.object({ index: z.number(), name: z.string(), arguments: z.record(z.string(), z.unknown()) }),
});
const answer = z
  .object({
    model: z.string(),
    created_at: z.string(),
    message: z.object({
      role: z.literal("assistant"),
      content: z.string(),
      thinking: z.string().optional(),
      images: z.array(z.string()).optional(),
      tool_calls: z.array(call).optional(),
    }),
    done: z.boolean(),
    done_reason: z.string().optional(),
    total_duration: z.number().optional().openapi({ description: "En nanosegundos." }),
    prompt_eval_count: z.number().optional(),
    eval_count: z.number().optional(),
  })
  .openapi("OllamaChat");
type Answer = z.output<typeof answer>;

const versionRoute = createRoute({
  method: "get",
  path: "/version",
  ...common,
  responses: { 200: answers(z.object({ version: z.string() }), "La versión de Ollama cuya API se entiende.") },
});
const listRoute = createRoute({
  method: "get",
  path: "/tags",
  ...common,
  responses: {
    200: answers(z.object({ models: z.array(listed) }).openapi("OllamaModels"), "Los modelos disponibles."),
  },
});
const showRoute = createRoute({
  method: "post",
  path: "/show",
  ...common,
  request: { body: takes(askedShow) },
  responses: {
    200: answers(
      z
        .object({
          details,
          model_info: z.record(z.string(), z.unknown()),
          capabilities: z.array(z.enum(["completion", "tools", "vision"])),
          modified_at: z.string(),
        })
        .openapi("OllamaModel"),
      "Lo que sabe hacer un modelo.",
    ),
  },
});
const chatRoute = createRoute({
  method: "post",
  path: "/chat",
  ...withBody,
  request: { body: takes(askedChat) },
  responses: {
    200: {
      content: { "application/json": { schema: answer }, [lines]: { schema: bytes } },
      description: "La respuesta, una línea de JSON para cada trozo; con `stream: false`, de una vez.",
    },
  },
});
const embedRoute = createRoute({
  method: "post",
  path: "/embed",
  ...withBody,
  request: { body: takes(askedEmbed) },
  responses: {
    200: answers(
      z
        .object({
          model: z.string(),
          embeddings: z.array(z.array(z.number())),
          total_duration: z.number(),
          prompt_eval_count: z.number(),
        })
        .openapi("OllamaEmbeddings"),
      "Lo que significan los textos para el modelo de búsqueda.",
    ),
  },
});

const embedOneRoute = createRoute({
  method: "post",
  path: "/embeddings",
  ...withBody,
  request: { body: takes(askedEmbedding) },
  responses: {
    200: answers(
      z.object({ embedding: z.array(z.number()) }).openapi("OllamaEmbedding"),
      "La forma antigua de /api/embed, para un texto.",
    ),
  },
});
const runningRoute = createRoute({
  method: "get",
  path: "/ps",
  ...common,
  responses: {
    200: answers(z.object({ models: z.array(listed) }), "Los modelos que están en memoria: aquí, siempre ninguno."),
  },
});

const list: RouteHandler<typeof listRoute, ApiEnv> = async (c) => {
  const rows = await offeredModels(c.var.services, c.var.person.id);
  return c.json({ models: rows.map(listModel) }, 200);
};

const show: RouteHandler<typeof showRoute, ApiEnv> = async (c) => {
  const { model, name } = c.req.valid("json");
  const asked = model ?? name;
  if (asked === undefined) throw invalid("model", "Falta el modelo.");
  const row = await named(c.var.services, c.var.person.id, asked);
  return c.json(
    {
      details: noDetails,
      model_info: { "general.architecture": row.provider, [`${row.provider}.context_length`]: row.contextWindow },
      capabilities: [
        "completion" as const,
        ...(row.usesTools ? ["tools" as const] : []),
        ...(row.acceptsImages ? ["vision" as const] : []),
      ],
      modified_at: new Date(row.updatedAt).toISOString(),
    },
    200,
  );
};

const chat: RouteHandler<typeof chatRoute, ApiEnv> = async (c) => {
  const body = c.req.valid("json");
  const stream = body.stream ?? true;
  const about = { model: body.model, begun: performance.now() };
  const asking = await askThrough(c, chatRequest(body), { names: ollamaNames, stream });
  if (!stream) return c.json(await collect(about, asking), 200);
  return c.body(
    pullStream(toLines(about, asking), () => asking.pieces.return(undefined)),
    200,
    { "Content-Type": lines, "X-Accel-Buffering": "no" },
  );
};

/** Names that Ollama uses for fields with other names in chat completions. */
const ollamaNames = { response_format: "format", json_schema: "format", reasoning_effort: "think" };

const embed: RouteHandler<typeof embedRoute, ApiEnv> = async (c) => {
  const begun = performance.now();
  const { input, dimensions } = c.req.valid("json");
  const { model, vectors, tokens } = await embedFor(c, input, dimensions ?? undefined);
  return c.json({ model, embeddings: vectors, total_duration: since(begun), prompt_eval_count: tokens }, 200);
};

const embedOne: RouteHandler<typeof embedOneRoute, ApiEnv> = async (c) => {
  const { vectors } = await embedFor(c, [c.req.valid("json").prompt], undefined);
  return c.json({ embedding: vectors[0] ?? [] }, 200);
};

/** Ollama's calls, for its clients: their server is `/v1/ollama`, with a key as the bearer token. */
export const ollama = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(versionRoute, (c) => c.json({ version }, 200))
  .openapi(listRoute, list)
  .openapi(showRoute, show)
  .openapi(chatRoute, chat)
  .openapi(embedRoute, embed)
  .openapi(embedOneRoute, embedOne)
  .openapi(runningRoute, (c) => c.json({ models: [] }, 200));

const listModel = (row: ModelRow) => ({
  name: row.externalId,
  model: row.externalId,
  modified_at: new Date(row.updatedAt).toISOString(),
  size: 0,
  digest: row.id,
  details: noDetails,
});

/** Nanoseconds since `performance.now()` was `begun`. */
const since = (begun: number) => Math.round((performance.now() - begun) * 1_000_000);

type About = { model: string; begun: number };

const lineOf = ({ model }: About, said: Partial<Answer["message"]>): Answer => ({
  ...{ model, created_at: new Date().toISOString() },
  message: { role: "assistant", content: "", ...said },
  done: false,
});

const asCall = ({ id, name, input }: ToolCall, index: number) => ({
  id,
  function: { index, name, arguments: objectOf(input) ?? { invalid_input: input } },
});

const asImage = ({ bytes }: ImagePiece) => Buffer.from(bytes).toString("base64");

const endOf = ({ begun }: About, { reason, usage: { inputTokens = 0, outputTokens = 0 } }: Omit<Finish, "type">) => ({
  done: true,
  done_reason: reason === "length" ? "length" : "stop",
  total_duration: since(begun),
  prompt_eval_count: inputTokens,
  eval_count: outputTokens,
});

async function collect(about: About, { pieces, failed }: Asking): Promise<Answer> {
  const { text, thought, images, calls, ...end } = await readWhole(pieces).catch((error) => {
    throw failed(error);
  });
  const said = {
    content: text,
    ...(thought && { thinking: thought }),
    ...(images.length > 0 && { images: images.map(asImage) }),
    ...(calls.length > 0 && { tool_calls: calls.map(asCall) }),
  };
  return { ...lineOf(about, said), ...endOf(about, end) };
}

/** The lines of an answer. Ollama sends each call whole, its input as an object. */
async function* toLines(about: About, { pieces, failed }: Asking): AsyncGenerator<string> {
  const calls = new ToolCalls();
  const line = (said: Partial<Answer["message"]>, end: object = {}) =>
    `${JSON.stringify({ ...lineOf(about, said), ...end })}\n`;
  try {
    for await (const piece of withPauses(pieces)) {
      // After a long pause, a line without words: clients take every line for JSON.
      if (!piece) yield line({});
      else if (piece.type === "text") yield line({ content: piece.text });
      else if (piece.type === "reasoning") yield line({ thinking: piece.text });
      else if (piece.type === "image") yield line({ images: [asImage(piece)] });
      else if (piece.type !== "finish") calls.take(piece);
      else {
        if (calls.list.length > 0) yield line({ tool_calls: calls.list.map(asCall) });
        yield line({}, endOf(about, piece));
      }
    }
  } catch (error) {
    yield `${JSON.stringify({ error: failed(error).message })}\n`;
  }
}
