import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { limits } from "../../process/limits.ts";
import { objectOf } from "../../process/text/json.ts";
import { decide } from "../../replies/tools/decide.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { recordAudit } from "../http/audit.server.ts";
import { active, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, notFound, Problem } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { answers, bearer, idParam, takes, text } from "../http/schemas.server.ts";
import { findMessage } from "../http/visibility.server.ts";
import { modelOfChat, modelToUse, withSettings } from "../models/models.server.ts";
import { zoneOfCall } from "../site/time-zone.server.ts";

/** An object, or its JSON as a text, which keeps numbers that a double can't hold. */
const object = (sentence: string) =>
  z
    .union([z.record(z.string(), z.unknown()), z.string().max(limits.completionBody)], sentence)
    .transform((given, c) => {
      if (typeof given !== "string") return JSON.stringify(given);
      if (objectOf(given)) return given;
      c.addIssue({ code: "custom", message: sentence });
      return z.NEVER;
    });

const decision = z
  .strictObject({
    n: z
      .number("n tiene que ser un número.")
      .int("n tiene que ser un número entero.")
      .min(0, "n no puede ser negativo."),
    hash: z.string("Falta el hash de lo que se enseñó.").max(100),
    decision: z
      .enum(["once", "chat", "no"], "La decisión es once, chat o no.")
      .openapi({ description: "Permitir una vez, permitir en esta conversación, no permitir." }),
    input: object("Los datos tienen que ser un objeto.")
      .optional()
      .openapi({ description: "Los datos, si se cambian." }),
    answer: object("La respuesta tiene que ser un objeto.").optional().openapi({
      description: "Lo que se contesta, si la herramienta pregunta algo.",
    }),
    why: text("El porqué", 300).optional().openapi({ description: "Por qué no; se le dice al modelo." }),
  })
  .openapi("Decision");

const decided = z
  .object({
    goesOn: z.boolean().openapi({ description: "Si la respuesta sigue; false: falta decidir sobre otra llamada." }),
  })
  .openapi("Decided");

/** A person's yes or no to a call that waits for it. Only the owner of the chat decides. */
export const decisions = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(
  createRoute({
    method: "post",
    path: "/{id}/decision",
    security: bearer,
    middleware: [signedIn, active, publishes("message")],
    request: { params: idParam, body: takes(decision) },
    responses: { 200: answers(decided, "La decisión vale una vez, y solo para justo lo que se enseñó.") },
  }),
  async (c) => {
    const { person, services } = c.var;
    const reply = await findMessage(services, person, c.req.valid("param").id);
    if (reply.userId !== person.id) throw notFound();
    await countAttempt(c, "message", person.id);
    const { decision: verdict, answer, ...given } = c.req.valid("json");
    const chat = await modelOfChat(services, reply.chatId);
    const model = withSettings(
      await modelToUse(services, person.id, null, reply.modelId, chat.modelId),
      chat.assistant,
    );
    const result = await decide(services, {
      reply,
      decision: { ...given, verdict, answer: answer === undefined ? undefined : objectOf(answer) },
      model,
      zone: await zoneOfCall(c),
      record: async (trx, { call }) => {
        if (call.asksAlways && verdict !== "no" && person.keyId)
          throw new Problem(403, "A esto dice que sí la persona, con la sesión iniciada: no una clave.");
        await recordAudit(trx, c, verdict === "no" ? "refuse" : "allow", "call", reply.id, {
          // The call's input is left out: it is the person's own, and is deleted with the conversation.
          changes: { after: { tool: call.tool, server: call.server, hash: given.hash, decision: verdict } },
        });
      },
    });
    return c.json(result, 200);
  },
);
