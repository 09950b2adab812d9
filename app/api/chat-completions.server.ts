import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { ModelRow } from "../db/tables.ts";
import { completePrompt } from "../intelligence/completion.server.ts";
import { ReplyError } from "../intelligence/errors.server.ts";
import type { Part } from "../intelligence/providers.server.ts";
import { pullStream } from "../pull-stream.server.ts";
import { active, signedIn } from "./authentication.server.ts";
import { type Asked, asked, promptOf } from "./chat-completion-request.server.ts";
import type { ApiEnv, Services } from "./env.server.ts";
import { answerInvalid, Problem } from "./problem.server.ts";
import { answers, bearer, takes } from "./schemas.server.ts";

const usage = z.object({ prompt_tokens: z.number(), completion_tokens: z.number(), total_tokens: z.number() });
const completion = z
  .object({
    id: z.string(),
    object: z.literal("chat.completion"),
    created: z.number(),
    model: z.string(),
    choices: z.array(
      z.object({
        index: z.number(),
        message: z.object({ role: z.literal("assistant"), content: z.string() }),
        finish_reason: z.string(),
      }),
    ),
    usage,
  })
  .openapi("ChatCompletion");
const listed = z
  .object({
    object: z.literal("list"),
    data: z.array(z.object({ id: z.string(), object: z.literal("model"), created: z.number(), owned_by: z.string() })),
  })
  .openapi("OpenAiModels");

const common = { security: bearer, middleware: [signedIn, active] };

/** The door for programs that speak OpenAI's protocol (platform.openai.com/docs/api-reference/chat): text and images in, one answer. */
export const chatCompletions = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(
    createRoute({
      method: "get",
      path: "/models",
      ...common,
      responses: { 200: answers(listed, "Los modelos disponibles, como los lista OpenAI.") },
    }),
    async (c) => {
      const rows = await offered(c.var.services);
      const data = rows.map((row) => ({
        id: row.externalId,
        object: "model" as const,
        created: Math.floor(row.createdAt / 1000),
        owned_by: row.provider,
      }));
      return c.json({ object: "list" as const, data }, 200);
    },
  )
  .openapi(
    createRoute({
      method: "post",
      path: "/chat/completions",
      ...common,
      request: { body: takes(asked) },
      responses: { 200: answers(completion, "La respuesta; con `stream`, sus trozos como text/event-stream.") },
    }),
    async (c) => {
      const { person, services } = c.var;
      const given = c.req.valid("json");
      const { signal } = c.req.raw;
      const model = await modelOf(services, given);
      const parts = await completePrompt(services, {
        userId: person.id,
        model,
        prompt: await promptOf(given, model),
        stop: [given.stop ?? []].flat(),
        signal,
      });
      // Nothing is answered before the model does: a refusal has its own status.
      const first = await parts.next().catch((error) => refused(error, signal));
      const about = { id: `chatcmpl-${c.var.requestId}`, created: Math.floor(Date.now() / 1000), model: given.model };
      if (given.stream) {
        const events = toEvents(about, resumed(first, parts), Boolean(given.stream_options?.include_usage));
        return c.body(
          pullStream(events, () => parts.return(undefined)),
          200,
          {
            "Content-Type": "text/event-stream; charset=utf-8",
            "X-Accel-Buffering": "no",
          },
        ) as never;
      }
      return c.json(await collect(about, resumed(first, parts), signal), 200);
    },
  );

/** The models of this installation that are asked over the wire: the local assistant searches, and has nothing to search in here. */
const offered = ({ db }: Services): Promise<ModelRow[]> =>
  db
    .selectFrom("models")
    .where("enabled", "=", 1)
    .where("provider", "!=", "local")
    .orderBy("isDefault", "desc")
    .orderBy("position")
    .orderBy("id")
    .selectAll()
    .execute();

/** By the provider's name for it, by its name here, or by its id; what the request says of it goes before its own settings. */
async function modelOf(services: Services, given: Asked): Promise<ModelRow> {
  const models = await offered(services);
  const by = (name: "externalId" | "name" | "id") => models.find((row) => row[name] === given.model);
  const found = by("externalId") ?? by("name") ?? by("id");
  if (!found) throw new Problem(404, `El modelo «${given.model.slice(0, 100)}» no existe aquí.`);
  const most = given.max_completion_tokens ?? given.max_tokens ?? found.maxOutputTokens;
  return {
    ...found,
    temperature: given.temperature ?? found.temperature,
    maxOutputTokens: Math.min(most, found.maxOutputTokens),
  };
}

/** What a model's failure is to the program that asked; one that has left itself is no failure. */
function refused(error: unknown, signal: AbortSignal): never {
  if (signal.aborted) throw new Problem(400, "Quien preguntaba se ha ido.");
  throw error instanceof ReplyError ? new Problem(502, error.message) : error;
}

async function* resumed(first: IteratorResult<Part>, rest: AsyncGenerator<Part>): AsyncGenerator<Part> {
  if (!first.done) yield first.value;
  yield* rest;
}

type About = { id: string; created: number; model: string };

const usageOf = (part: Extract<Part, { type: "finish" }>) => {
  const [prompt_tokens, completion_tokens] = [part.usage.inputTokens ?? 0, part.usage.outputTokens ?? 0];
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
};

async function collect(
  about: About,
  parts: AsyncGenerator<Part>,
  signal: AbortSignal,
): Promise<z.output<typeof completion>> {
  let said = "";
  let reason = "stop";
  let used = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  try {
    for await (const part of parts) {
      if (part.type === "text") said += part.text;
      else [reason, used] = [part.reason, usageOf(part)];
    }
  } catch (error) {
    refused(error, signal);
  }
  const choice = { index: 0, message: { role: "assistant" as const, content: said }, finish_reason: reason };
  return { ...about, object: "chat.completion", choices: [choice], usage: used };
}

async function* toEvents(about: About, parts: AsyncGenerator<Part>, withUsage: boolean): AsyncGenerator<string> {
  const event = (more: object) => `data: ${JSON.stringify({ ...about, object: "chat.completion.chunk", ...more })}\n\n`;
  const delta = (said: object, reason: string | null = null) =>
    event({ choices: [{ index: 0, delta: said, finish_reason: reason }] });
  yield delta({ role: "assistant", content: "" });
  try {
    for await (const part of parts) {
      if (part.type === "text") yield delta({ content: part.text });
      else {
        yield delta({}, part.reason);
        if (withUsage) yield event({ choices: [], usage: usageOf(part) });
      }
    }
  } catch (error) {
    if (!(error instanceof ReplyError)) throw error;
    // The answer has begun: OpenAI's clients take an error from the stream as well.
    yield `data: ${JSON.stringify({ error: { message: error.message, type: "server_error", param: null, code: null } })}\n\n`;
  }
  yield "data: [DONE]\n\n";
}
