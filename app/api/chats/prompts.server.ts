import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { Db } from "../../db/engine.server.ts";
import { storedJson } from "../../process/text/json.ts";
import { type StoredPrompt, wholeSaid } from "../../replies/prompt/stored-prompt.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { active, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, notFound } from "../http/problem.server.ts";
import { answers, bearer, idParam } from "../http/schemas.server.ts";
import { findMessage } from "../http/visibility.server.ts";

const prompt = z
  .object({
    parts: z
      .array(z.object({ title: z.string(), text: z.string() }))
      .openapi({ description: "Las partes de la instrucción del sistema, en orden." }),
    turns: z.array(
      z.object({
        role: z.enum(["user", "assistant", "tool"]),
        content: z.string(),
        images: z.number(),
        title: z.string().nullable().openapi({ description: "De lo que puso la casa, y no la persona ni el modelo." }),
        messageId: z.string().nullable(),
      }),
    ),
    pseudonyms: z.boolean().openapi({ description: "Si se le ocultaron identificadores: aquí están las marcas." }),
    searched: z
      .array(z.string())
      .openapi({ description: "Otras maneras de decir la pregunta, que dio el modelo y que también se buscaron." }),
    tools: z.array(z.string()).openapi({ description: "Las herramientas que se le ofrecieron." }),
    modelId: z.string().nullable(),
    inputTokens: z.number().nullable(),
    outputTokens: z.number().nullable(),
    cachedTokens: z
      .number()
      .nullable()
      .openapi({ description: "Los de entrada que el proveedor ya tenía guardados, si los cuenta." }),
    cost: z
      .number()
      .nullable()
      .openapi({ description: "Lo que ha costado, con los precios del modelo y en su moneda." }),
  })
  .openapi("Prompt");

/** The prompt that a model was given for a reply. Only for the owner of the chat. */
export const prompts = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(
  createRoute({
    method: "get",
    path: "/{id}/prompt",
    security: bearer,
    middleware: [signedIn, active],
    request: { params: idParam },
    responses: { 200: answers(prompt, "Lo que se envió al modelo para una respuesta.") },
  }),
  async (c) => {
    const { person, services } = c.var;
    const { db } = services;
    const reply = await findMessage(services, person, c.req.valid("param").id);
    if (reply.role !== "assistant" || reply.userId !== person.id) throw notFound();
    const row = await db
      .selectFrom("prompts")
      .where("messageId", "=", reply.id)
      .select(["content", "updatedAt"])
      .executeTakeFirstOrThrow(notFound);
    const { parts, turns, tools = [], searched = [], pseudonyms = false } = storedJson<StoredPrompt>(row.content);
    const { modelId, inputTokens, outputTokens, cachedTokens, cost } = reply;
    const given = { parts: await showParts(db, parts), turns: await showTurns(db, turns, row.updatedAt) };
    const shown = { tools, searched, pseudonyms, ...(pseudonyms ? await hideIn(given) : given) };
    return c.json({ ...shown, modelId, inputTokens, outputTokens, cachedTokens, cost }, 200);
  },
);

type Shown = { parts: { title: string; text: string }[]; turns: Awaited<ReturnType<typeof showTurns>> };

/** The prompt as the model got it: identifiers are hidden again as they were, in the same order and so with the same marks. */
async function hideIn({ parts, turns }: Shown): Promise<Shown> {
  const { Pseudonyms } = await import("../../replies/pseudonyms/pseudonyms.server.ts");
  const pseudonyms = new Pseudonyms([...parts.map(({ text }) => text), ...turns.map(({ content }) => content)]);
  const hidden: Shown = { parts: [], turns: [] };
  for (const part of parts) hidden.parts.push({ ...part, text: await pseudonyms.hide(part.text) });
  for (const turn of turns) hidden.turns.push({ ...turn, content: await pseudonyms.hide(turn.content) });
  return hidden;
}

async function showParts(db: Db, parts: StoredPrompt["parts"]) {
  const ids = parts.flatMap((part) => ("fileId" in part ? [part.fileId] : []));
  const files = await db
    .selectFrom("files")
    .where("id", "in", [...ids, ""])
    .select(["id", "text"])
    .execute();
  return parts.map((part) => {
    if (!("fileId" in part)) return part;
    const text = files.find(({ id }) => id === part.fileId)?.text;
    return {
      title: part.title,
      text: text == null ? `[${part.n}] ${part.name} (eliminado después)` : wholeSaid(part, text),
    };
  });
}

async function showTurns(db: Db, turns: StoredPrompt["turns"], storedAt: number) {
  const ids = turns.flatMap((turn) => ("messageId" in turn ? [turn.messageId] : []));
  const messages = await db
    .selectFrom("messages")
    .where("id", "in", [...ids, ""])
    .select(["id", "role", "content", "updatedAt"])
    .execute();
  return turns.map((turn) => {
    if (!("messageId" in turn)) {
      const calls = "calls" in turn ? (turn.calls ?? []) : [];
      const called = calls.map(({ name, input }) => `${name}(${input})`);
      return {
        role: turn.role,
        content: [turn.content, ...called].filter(Boolean).join("\n"),
        images: 0,
        messageId: null,
        title: "title" in turn ? (turn.title ?? null) : null,
      };
    }
    const message = messages.find(({ id }) => id === turn.messageId);
    const later = message && message.updatedAt > storedAt ? ["(cambiado después de enviarse)"] : [];
    const content = [...turn.notes, message?.content ?? "(mensaje eliminado después)", ...later].join("\n");
    const role = message?.role === "assistant" ? ("assistant" as const) : ("user" as const);
    return { role, content, images: turn.images, messageId: turn.messageId, title: null };
  });
}
