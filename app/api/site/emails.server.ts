import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { v7 as newId } from "uuid";
import { newRow } from "../../db/rows.server.ts";
import type { EmailRow } from "../../db/tables.ts";
import { hashToken } from "../../process/crypto.server.ts";
import { limits } from "../../process/limits.ts";
import { email } from "../auth/accounts.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { maybeSignedIn } from "../http/authentication.server.ts";
import { answerInvalid } from "../http/problem.server.ts";
import { countAttempt, networkOf } from "../http/rate-limit.server.ts";
import { answers, id, iso, line, takes, text } from "../http/schemas.server.ts";

const newEmail = z.strictObject({
  name: line("El nombre", limits.name, 1),
  email,
  message: text("El mensaje", limits.emailMessage, 1),
  key: id.optional().openapi({ description: "Enviado dos veces con la misma clave, es un solo mensaje." }),
});
const shown = z
  .object({ id: z.string(), createdAt: z.string(), name: z.string(), email: z.string(), message: z.string() })
  .openapi("Email");

const route = <Path extends string>(path: Path) =>
  createRoute({
    method: "post",
    path,
    middleware: [maybeSignedIn],
    request: { body: takes(newEmail) },
    responses: { 201: answers(shown, "El mensaje, guardado; también sale por correo donde está configurado.") },
  });

/** Messages from the contact and support forms: always stored, e-mailed where SMTP_URL is set. */
export const emails = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(route("/contact"), async (c) => c.json(await receive(c, "contact", c.req.valid("json")), 201))
  .openapi(route("/support"), async (c) => c.json(await receive(c, "support", c.req.valid("json")), 201));

async function receive(
  c: Context<ApiEnv>,
  kind: EmailRow["kind"],
  { key = newId(), ...given }: z.output<typeof newEmail>,
): Promise<z.output<typeof shown>> {
  const { services } = c.var;
  const { db } = services;
  await countAttempt(c, "email", networkOf(c));
  const userId = c.var.person?.id ?? null;
  // The key includes the content: a different text with an old key is a new message, and nobody can read a message by
  // guessing keys.
  const fingerprint = hashToken(JSON.stringify([key, kind, userId, given]));
  const now = Date.now();
  const row: EmailRow = {
    ...newRow(now),
    kind,
    ...given,
    userId,
    key: fingerprint,
    sentAt: null,
  };
  const { numInsertedOrUpdatedRows } = await db
    .insertInto("emails")
    .values(row)
    .onConflict((conflict) => conflict.column("key").doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows === 1n) forward(c, row);
  return show(await db.selectFrom("emails").where("key", "=", fingerprint).selectAll().executeTakeFirstOrThrow());
}

const show = ({ id, createdAt, name, email, message }: EmailRow) => ({
  id,
  createdAt: iso(createdAt),
  name,
  email,
  message,
});

function forward(c: Context<ApiEnv>, row: EmailRow): void {
  const { mail } = c.var.services;
  if (!mail.inbox) return;
  const message = {
    to: mail.inbox,
    replyTo: { name: row.name, address: row.email },
    subject: `${row.kind === "contact" ? "Contacto" : "Soporte"}: ${row.name}`,
    text: `${row.message}\n\n${row.name} <${row.email}>${row.userId ? `\nCuenta: ${row.userId}` : ""}\n`,
  };
  mail.post(message, { emailId: row.id });
}
