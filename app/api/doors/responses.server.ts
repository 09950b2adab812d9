import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import { pullStream, withPauses } from "../../http/pull-stream.server.ts";
import { limits } from "../../process/limits.ts";
import type { ApiEnv } from "../env.server.ts";
import { active, signedIn } from "../http/authentication.server.ts";
import { takesBodyOf } from "../http/bodies.server.ts";
import { listQuery } from "../http/list.server.ts";
import { answerInvalid, asOpenAi, type Problem } from "../http/problem.server.ts";
import { answers, bearer, bytes, id, takes } from "../http/schemas.server.ts";
import { type Asking, askThrough } from "./door.server.ts";
import {
  type Begun,
  beginResponse,
  deleteKept,
  findKept,
  hexOf,
  inputOf,
  keepResponse,
  responseId,
} from "./kept-responses.server.ts";
import { eventStream, forOpenAi } from "./openai-clients.server.ts";
import { type Output, ResponseOutput, responseUsage, storedEvents } from "./response-events.server.ts";
import {
  type AskedResponse,
  askedResponse,
  isOfProvider,
  responseNames,
  responseRequest,
} from "./response-request.server.ts";
import { sealOf } from "./thoughts/sealed-thoughts.server.ts";

const item = z.looseObject({ type: z.string(), id: z.string() });
const response = z
  .object({
    id: z.string(),
    object: z.literal("response"),
    created_at: z.number(),
    model: z.string(),
    status: z.enum(["in_progress", "completed", "incomplete", "failed"]),
    output: z.array(item).openapi({ description: "Pensamientos, mensajes, llamadas e imágenes, en su orden." }),
    previous_response_id: z.string().nullable(),
    store: z.boolean(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    incomplete_details: z.object({ reason: z.string() }).nullable(),
    instructions: z.string().nullable(),
    max_output_tokens: z.number().nullable(),
    temperature: z.number().nullable(),
    top_p: z.number().nullable(),
    parallel_tool_calls: z.boolean(),
    tool_choice: z.unknown(),
    tools: z.array(z.unknown()).openapi({ description: "Las que se han ofrecido al modelo." }),
    text: z.unknown(),
    reasoning: z.unknown(),
    truncation: z.literal("disabled"),
    metadata: z.record(z.string(), z.unknown()),
    usage: z
      .object({ input_tokens: z.number(), output_tokens: z.number(), total_tokens: z.number() })
      .loose()
      .nullable(),
  })
  .openapi("OpenAiResponse");
type Response = z.output<typeof response>;

const route = createRoute({
  method: "post",
  path: "/responses",
  security: bearer,
  middleware: [forOpenAi, signedIn, active, takesBodyOf(limits.completionBody)],
  request: { body: takes(askedResponse) },
  responses: {
    200: {
      content: { "application/json": { schema: response }, "text/event-stream": { schema: bytes } },
      description: "La respuesta; con `stream`, sus sucesos.",
    },
  },
});

const respond: RouteHandler<typeof route, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const body = c.req.valid("json");
  // The input as it was sent, because items are kept in the protocol's own format.
  const { input } = await c.req.json<{ input: unknown }>();
  const keeping = { input, store: body.store !== false, previousId: body.previous_response_id };
  const begun = await beginResponse(services.db, person.id, keeping);
  const seal = sealOf(c.var);
  const request = responseRequest(body, begun.items, seal);
  const asking = await askThrough(c, request, { names: responseNames, stream: Boolean(body.stream) });
  const isSigned = request.house.length === 0;
  const output = new ResponseOutput({ id: hexOf(begun.id), kinds: request.kinds, seal, isSigned });
  const response = responseOf(body, begun);
  const keep = (said: Output) => keepResponse(services, begun, said, asking.model);
  if (body.stream) {
    const events = toEvents(asking, { response, output, keep });
    return c.body(
      pullStream(events, () => asking.pieces.return(undefined)),
      200,
      eventStream,
    );
  }
  try {
    for await (const piece of asking.pieces) Array.from(output.take(piece));
  } catch (error) {
    throw asking.failed(error);
  }
  await keep(output.result);
  return c.json(ended(response, output.result), 200);
};

const byId = z.object({ id: id.openapi({ param: { name: "id", in: "path" } }) });
const readRoute = createRoute({
  method: "get",
  path: "/responses/{id}",
  security: bearer,
  middleware: [forOpenAi, signedIn, active],
  request: {
    params: byId,
    query: z.object({
      stream: z.enum(["true", "false"]).optional(),
      starting_after: z.coerce.number().int().min(0).optional(),
    }),
  },
  responses: {
    200: {
      content: { "application/json": { schema: response }, "text/event-stream": { schema: bytes } },
      description: "Una respuesta guardada; con `stream`, sus sucesos. De cómo se pidió no se guarda nada.",
    },
  },
});
const readOne: RouteHandler<typeof readRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const kept = await findKept(services.db, person.id, c.req.valid("param").id);
  const previous = kept.previousId === null ? undefined : { id: kept.previousId };
  const begun = { id: kept.id, at: kept.createdAt, isKept: true, previous };
  const usage = responseUsage(kept);
  const output = z.array(item).parse(kept.answered);
  // An item that was cut off is kept as such; the limit of tokens is what cuts nearly always.
  const isCut = output.some(({ status }) => status === "incomplete");
  const [status, incomplete_details] = isCut
    ? (["incomplete", { reason: "max_output_tokens" }] as const)
    : (["completed", null] as const);
  const begins = responseOf({ model: kept.model ?? "" }, begun);
  const whole = { ...begins, status, incomplete_details, output, usage };
  const { stream, starting_after: last = -1 } = c.req.valid("query");
  if (stream !== "true") return c.json(whole, 200);
  const events = [...beginningOf(begins), ...output.flatMap(storedEvents), endOf(whole)].map(numbered);
  const rest = events.slice(last + 1);
  // Events of the answer as it was written have higher numbers, as there is one for each piece of its text. The last comes in any case.
  return c.body(rest.length > 0 ? rest.join("") : numbered(endOf(whole), last + 1), 200, eventStream);
};

const inputRoute = createRoute({
  method: "get",
  path: "/responses/{id}/input_items",
  security: bearer,
  middleware: [forOpenAi, signedIn, active],
  request: {
    params: byId,
    query: listQuery.pick({ limit: true }).extend({
      order: z.enum(["asc", "desc"], "order tiene que ser asc o desc.").default("desc"),
      after: z
        .string("after tiene que ser un id.")
        .max(200, "after es demasiado largo.")
        .optional()
        .openapi({ description: "El último de la página anterior." }),
    }),
  },
  responses: {
    200: answers(
      z
        .object({
          object: z.literal("list"),
          data: z.array(item),
          first_id: z.string().nullable(),
          last_id: z.string().nullable(),
          has_more: z.boolean(),
        })
        .openapi("OpenAiItems"),
      "Lo que contesta una respuesta guardada, con lo de las anteriores; lo último primero.",
    ),
  },
});
const listInput: RouteHandler<typeof inputRoute, ApiEnv> = async (c) => {
  const { limit, order, after } = c.req.valid("query");
  const items = await inputOf(c.var.services.db, c.var.person.id, c.req.valid("param").id);
  if (order === "desc") items.reverse();
  const from = after === undefined ? 0 : items.findIndex(({ id }) => id === after) + 1;
  const data = items.slice(from, from + limit);
  const [first_id, last_id] = [data[0]?.id ?? null, data.at(-1)?.id ?? null];
  return c.json({ object: "list" as const, data, first_id, last_id, has_more: from + limit < items.length }, 200);
};

const deleteRoute = createRoute({
  method: "delete",
  path: "/responses/{id}",
  security: bearer,
  middleware: [forOpenAi, signedIn, active],
  request: { params: byId },
  responses: {
    200: answers(
      z.object({ id: z.string(), object: z.literal("response"), deleted: z.literal(true) }).openapi("OpenAiDeleted"),
      "Ya no está para los programas; su conversación se queda.",
    ),
  },
});
const deleteOne: RouteHandler<typeof deleteRoute, ApiEnv> = async (c) => {
  const { id: given } = c.req.valid("param");
  await deleteKept(c.var.services.db, c.var.person.id, given);
  return c.json({ id: given, object: "response" as const, deleted: true as const }, 200);
};

/** OpenAI's Responses, for its clients, agents and Codex: a conversation in items, and one answer. */
export const responses = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(route, respond)
  .openapi(readRoute, readOne)
  .openapi(inputRoute, listInput)
  .openapi(deleteRoute, deleteOne);

/** A response that begins. */
function responseOf(
  body: Partial<AskedResponse> & Pick<AskedResponse, "model">,
  { id, at, isKept, previous }: Pick<Begun, "id" | "at" | "isKept"> & { previous: { id: string } | undefined },
): Response {
  const tools = (body.tools ?? []).filter(({ type }) => !isOfProvider(type));
  return {
    id: responseId(id),
    object: "response",
    created_at: Math.floor(at / 1000),
    model: body.model,
    status: "in_progress",
    output: [],
    previous_response_id: previous ? responseId(previous.id) : null,
    store: isKept,
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    temperature: body.temperature ?? null,
    top_p: body.top_p ?? null,
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    tool_choice: body.tool_choice ?? "auto",
    tools,
    text: body.text ?? { format: { type: "text" } },
    reasoning: { effort: body.reasoning?.effort ?? null, summary: null },
    truncation: "disabled",
    metadata: body.metadata ?? {},
    usage: null,
  };
}

const ended = (begun: Response, { items, usage, incomplete }: Output): Response => ({
  ...begun,
  status: incomplete ? "incomplete" : "completed",
  incomplete_details: incomplete ?? null,
  output: items,
  usage,
});

const failure = (begun: Response, output: Output, problem: Problem): Response => ({
  ...begun,
  status: "failed",
  output: output.items,
  error: { code: asOpenAi(problem).code ?? asOpenAi(problem).type, message: problem.message },
});

type Event = { type: string };
const numbered = ({ type, ...more }: Event, sequence_number: number) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...more })}\n\n`;
const beginningOf = (response: Response) =>
  ["response.created", "response.in_progress"].map((type) => ({ type, response }));
const endOf = (response: Response) => ({ type: `response.${response.status}`, response });

type Underway = { response: Response; output: ResponseOutput; keep: (said: Output) => Promise<void> };

/** The events of a response; the last one has the whole response. The response is kept before its last event is sent. */
async function* toEvents({ pieces, failed }: Asking, { response, output, keep }: Underway): AsyncGenerator<string> {
  let count = 0;
  const event = (one: Event) => numbered(one, count++);
  yield* beginningOf(response).map(event);
  try {
    for await (const piece of withPauses(pieces)) {
      if (!piece) yield ": \n\n";
      else for (const one of output.take(piece)) yield event(one);
    }
    await keep(output.result);
    yield event(endOf(ended(response, output.result)));
  } catch (error) {
    yield event(endOf(failure(response, output.result, failed(error))));
  }
}
