import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import { readHouse } from "../../db/house.server.ts";
import type { MessageRow } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import { listOf, parseJson } from "../../process/text/json.ts";
import type { ApiEnv } from "../env.server.ts";
import { active, signedIn } from "../http/authentication.server.ts";
import { takesBodyOf } from "../http/bodies.server.ts";
import { answerInvalid, invalid } from "../http/problem.server.ts";
import { countAttempt, networkOf } from "../http/rate-limit.server.ts";
import { answers, bearer, idParam, iso, takes } from "../http/schemas.server.ts";
import { seeMessage } from "../http/visibility.server.ts";
import { type Claims, markOf, opened, receiptKeys, sealed } from "./receipt.server.ts";

const said = {
  house: z.string(),
  at: z.string().openapi({ description: "Cuándo acabó la respuesta." }),
  model: z.string(),
  sources: z.number().openapi({ description: "Cuántas fuentes tenía." }),
};
const receipt = z
  .object({ ...said, receipt: z.string().openapi({ description: "Lo firmado, para pasarlo." }), question: z.string() })
  .openapi("Receipt");

const readReceiptRoute = createRoute({
  method: "get",
  path: "/{id}/receipt",
  security: bearer,
  middleware: [signedIn, active],
  request: { params: idParam },
  responses: { 200: answers(receipt, "El recibo de una respuesta entera, que nadie ha cambiado.") },
});
const readReceipt: RouteHandler<typeof readReceiptRoute, ApiEnv> = async (c) => {
  const { services } = c.var;
  const { db } = services;
  const reply = await seeMessage(c, c.req.valid("param").id);
  const [question, model, { name }] = await Promise.all([
    db
      .selectFrom("messages")
      .where("id", "=", reply.parentId ?? "")
      .select(["content", "updatedAt"])
      .executeTakeFirst(),
    db
      .selectFrom("models")
      .where("id", "=", reply.modelId ?? "")
      .select("name")
      .executeTakeFirst(),
    readHouse(db),
  ]);
  if (!question || !isAsWritten(reply, question)) {
    throw invalid("id", "Solo tiene recibo una respuesta entera, escrita aquí, que nadie ha cambiado; ni su pregunta.");
  }
  const given: Claims = {
    ...{ v: 1, house: name, at: iso(reply.finishedAt ?? reply.updatedAt), message: reply.id },
    ...{ model: model?.name ?? "un modelo que ya no está", sources: listOf(parseJson(reply.sources ?? "[]")).length },
    ...{ question: markOf(question.content), answer: markOf(reply.content) },
  };
  const { house, at, sources } = given;
  const shown = { house, at, sources, model: given.model, question: question.content };
  return c.json({ ...shown, receipt: sealed(given, services.receiptKey) }, 200);
};

/** Whether a reply is what its model has written here, to the question as it stands. */
function isAsWritten(reply: MessageRow, question: Pick<MessageRow, "updatedAt">): boolean {
  const { role, status, outside, edited, content, updatedAt, finishedAt, createdAt } = reply;
  if (role !== "assistant" || status !== "complete" || outside || edited || content === "") return false;
  // A change moves the time of a message; changes by older versions left no other trace.
  return updatedAt <= (finishedAt ?? 0) && question.updatedAt <= createdAt;
}

const checked = z
  .object({
    valid: z.boolean().openapi({ description: "Si lo ha firmado esta casa, y nada ha cambiado en él." }),
    claims: z.object(said).nullable(),
    question: z.boolean().nullable().openapi({ description: "Si la pregunta es esa; null si no se ha dado." }),
    answer: z.boolean().nullable(),
  })
  .openapi("CheckedReceipt");
const words = z.string("Es un texto.").max(limits.reply, "Es demasiado largo.").default("");
const checkReceiptRoute = createRoute({
  method: "post",
  path: "/check",
  middleware: [takesBodyOf(6 * limits.reply)],
  request: {
    body: takes(
      z.strictObject({
        receipt: z.string("Falta el recibo.").max(4_000, "No es un recibo."),
        question: words,
        answer: words,
      }),
    ),
  },
  responses: { 200: answers(checked, "Qué se sabe de un recibo, y de los textos que se dan con él.") },
});
const checkReceipt: RouteHandler<typeof checkReceiptRoute, ApiEnv> = async (c) => {
  await countAttempt(c, "receipt", networkOf(c));
  const given = c.req.valid("json");
  const found = opened(given.receipt, c.var.services.receiptKey);
  if (!found) return c.json({ valid: false, claims: null, question: null, answer: null }, 200);
  const isSame = (text: string, mark: string) => (text.trim() === "" ? null : markOf(text) === mark);
  const { house, at, model, sources } = found;
  const same = { question: isSame(given.question, found.question), answer: isSame(given.answer, found.answer) };
  return c.json({ valid: true, claims: { house, at, model, sources }, ...same }, 200);
};

const readKeyRoute = createRoute({
  method: "get",
  path: "/key",
  responses: {
    200: answers(
      z.object({ kty: z.string(), crv: z.string(), x: z.string() }),
      "La clave pública (JWK, Ed25519) con la que otros comprueban los recibos.",
    ),
  },
});
const readKey: RouteHandler<typeof readKeyRoute, ApiEnv> = (c) => {
  const { kty = "", crv = "", x = "" } = receiptKeys(c.var.services.receiptKey).open.export({ format: "jwk" });
  return c.json({ kty, crv, x }, 200);
};

/** Receipts of replies: signed, so that anybody can see whether a text came from this house as it stands. */
export const messageReceipts = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(
  readReceiptRoute,
  readReceipt,
);
export const receipts = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(checkReceiptRoute, checkReceipt)
  .openapi(readKeyRoute, readKey);
