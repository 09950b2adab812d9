import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { MessageRow } from "../../db/tables.ts";
import { objectOf } from "../../process/text/json.ts";
import { partsOf, storedParts, type ToolPart } from "../../replies/parts.server.ts";
import { type Tool, ToolRefused } from "../../tools/tool.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { active, noProgram, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, invalid, notFound, Problem } from "../http/problem.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { answers, bearer, id, takes } from "../http/schemas.server.ts";
import { findMessage } from "../http/visibility.server.ts";
import { zoneOfCall } from "../site/time-zone.server.ts";

const app = z
  .object({
    chatId: z.string(),
    label: z.string(),
    server: z.string(),
    tool: z.string().openapi({ description: "Como la llama su servidor." }),
    input: z.string().openapi({ description: "JSON." }),
    output: z.string(),
    structured: z.string().nullable().openapi({ description: "JSON: lo mismo, para la página." }),
    schema: z.looseObject({}).openapi({ description: "De los datos de la herramienta." }),
    asks: z.array(z.string()).openapi({ description: "Herramientas del servidor que preguntan antes." }),
  })
  .openapi("ToolApp");
const page = z
  .object({
    html: z.string().openapi({ description: "De otros: solo se enseña aislado." }),
    takesFrom: z.array(z.string()).openapi({ description: "De dónde dice que toma cosas." }),
    asksAt: z.array(z.string()).openapi({ description: "Adónde dice que pregunta." }),
  })
  .openapi("ToolAppPage");

const params = z.object({
  id: id.openapi({ param: { name: "id", in: "path" } }),
  n: z.coerce
    .number()
    .int()
    .min(0)
    .openapi({ param: { name: "n", in: "path" } }),
});
const common = { security: bearer, middleware: [signedIn, noProgram, active] };

const readAppRoute = createRoute({
  method: "get",
  path: "/{id}/app/{n}",
  ...common,
  request: { params },
  responses: { 200: answers(app, "Una llamada que se ve también en una página de su servidor (MCP Apps).") },
});
const readApp: RouteHandler<typeof readAppRoute, ApiEnv> = async (c) => {
  const { reply, part, tools } = await findApp(c, c.req.valid("param"));
  const { label, server, tool, input, structured = null } = part.call;
  const own = tools.find((one) => one.tool === tool);
  const asks = tools.filter((one) => one.asks).map((one) => one.tool);
  const about = { label, server: server ?? "", tool, input, output: part.text, structured, asks };
  return c.json({ chatId: reply.chatId, ...about, schema: own?.schema ?? {} }, 200);
};

const readPageRoute = createRoute({
  method: "get",
  path: "/{id}/app/{n}/page",
  ...common,
  request: { params },
  responses: { 200: answers(page, "La página, como la da ahora su servidor.") },
});
const readPage: RouteHandler<typeof readPageRoute, ApiEnv> = async (c) => {
  const { services, person } = c.var;
  const { part } = await findApp(c, c.req.valid("param"));
  await countAttempt(c, "message", person.id);
  const { toolId, app: uri = "" } = part.call;
  const { html, takesFrom, asks } = await refusal(services.toolbox.readApp(person.id, toolId ?? "", uri));
  return c.json({ html, takesFrom, asksAt: asks }, 200);
};

const call = z.strictObject({
  tool: z.string("Falta la herramienta.").max(200),
  input: z.string("Faltan los datos.").max(100_000, "Los datos son demasiado largos."),
  agreed: z
    .boolean()
    .default(false)
    .openapi({ description: "Si la persona ha visto los datos y ha dicho que sí: hace falta para las que preguntan." }),
});
const called = z
  .object({ text: z.string(), structured: z.string().nullable(), failed: z.boolean() })
  .openapi("ToolAppCalled");

const callRoute = createRoute({
  method: "post",
  path: "/{id}/app/{n}/call",
  ...common,
  request: { params, body: takes(call) },
  responses: { 200: answers(called, "Lo que ha contestado la herramienta. No pasa a la conversación.") },
});
const callTool: RouteHandler<typeof callRoute, ApiEnv> = async (c) => {
  const { services, person } = c.var;
  const { tool: name, input, agreed } = c.req.valid("json");
  const { reply, tools } = await findApp(c, c.req.valid("param"));
  await countAttempt(c, "message", person.id);
  const tool = tools.find((one) => one.tool === name);
  if (!tool) throw invalid("tool", "Esa herramienta no está en el servidor de esta página.");
  if (tool.asks && !agreed) throw new Problem(409, `«${tool.label}» pregunta antes.`);
  const given = objectOf(input);
  if (!given) throw invalid("input", "Los datos no son un objeto JSON.");
  const chat = await services.db
    .selectFrom("chats")
    .where("id", "=", reply.chatId)
    .select("projectId")
    .executeTakeFirstOrThrow(notFound);
  const place = { userId: person.id, chatId: reply.chatId, projectId: chat.projectId, messageId: reply.id };
  const nothingStays = { sessionId: null, modelId: null };
  const signal = AbortSignal.any([c.req.raw.signal, AbortSignal.timeout(tool.time)]);
  const caller = { ...place, ...nothingStays, zone: await zoneOfCall(c), signal, length: tool.length, answers: [] };
  const outcome = await refusal(
    tool.call(given, caller).catch((error: unknown) => {
      if (signal.aborted) throw new ToolRefused(`«${tool.label}» no ha contestado a tiempo.`, { cause: error });
      throw error;
    }),
  );
  if ("question" in outcome) throw invalid("tool", `«${tool.label}» pregunta algo: úsala desde la conversación.`);
  const { text, structured = "", failed = false } = outcome;
  const isShort = structured.length <= structuredAtMost;
  return c.json({ text: text.slice(0, tool.length), structured: isShort ? structured || null : null, failed }, 200);
};

/** Pages of servers of tools (MCP Apps): what they show, and the calls that they make for the person who looks at them. */
export const toolApps = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(readAppRoute, readApp)
  .openapi(readPageRoute, readPage)
  .openapi(callRoute, callTool);

const structuredAtMost = 1_000_000;

type Found = { reply: MessageRow; part: ToolPart; tools: Tool[] };

/** A tool call of the person that has a page, and the tools of its server that the person reaches now. Throws 404. */
async function findApp(c: Context<ApiEnv>, { id: messageId, n }: z.output<typeof params>): Promise<Found> {
  const { person, services } = c.var;
  const reply = await findMessage(services, person, messageId);
  if (reply.userId !== person.id) throw notFound();
  const found = partsOf(reply.content, await storedParts(services.db, reply.id))[n];
  if (found?.kind !== "tool" || !found.call.app) throw notFound();
  const tools = await services.toolbox.ofServer(person.id, found.call.toolId ?? "");
  return { reply, part: found, tools };
}

/** Throws 422 with the sentence of a tool that has refused. */
const refusal = <Result>(work: Promise<Result>): Promise<Result> =>
  work.catch((error: unknown) => {
    throw error instanceof ToolRefused ? invalid("tool", error.message) : error;
  });
