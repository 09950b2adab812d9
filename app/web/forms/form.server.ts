import { parseWithZod } from "@conform-to/zod/v4";
import { data, type MiddlewareFunction } from "react-router";
import type { z } from "zod";
import { BodyRefused, boundedBody } from "../../http/bounded-body.server.ts";
import { headerOf } from "../../http/header.server.ts";
import { isMultipart, MultipartError, readMultipart } from "../../http/multipart.server.ts";
import { networkOf } from "../../http/network.server.ts";
import { sameSecret } from "../../process/crypto.server.ts";
import { limits } from "../../process/limits.ts";
import { refusalIn } from "../api-result.server.ts";
import { type Context, filesContext, formContext, ipContext, sessionContext } from "../context.ts";
import { type CurrentUser, getCurrentUser } from "../current-user.server.ts";
import { carrying, typedFields, unsent } from "./unsent-form.server.ts";

/** State of a form after it failed: the values as typed, a sentence for each field, one for the whole. */
export type FormResult = { values: Record<string, string>; errors: Record<string, string>; message?: string };

/**
 * Reads the body of every POST once, and only when it comes from a page of this session; an action has no other way to its
 * form.
 */
export const readForm: MiddlewareFunction<Response> = async ({ request, context, url }, next) => {
  if (request.method === "GET" || request.method === "HEAD") return next();
  // The sender is known before the first byte is read. While the API is unreachable nobody can be known, but the form is
  // read so that what was typed can be shown again.
  // Looking up a person whose session has ended changes the form token, so the token that the page had is kept.
  const { formToken } = context.get(sessionContext);
  const person = await getCurrentUser(context).catch(() => null);
  // Only people who are signed in may upload files; other forms are short texts.
  if (!isMultipart(request) || !context.get(sessionContext).signedIn) {
    const stranger = person ? undefined : networkOf(context.get(ipContext));
    await accept(await parseForm(request, stranger).catch(explain), formToken, context, url);
    return next();
  }
  const rules = uploadRules(context, person);
  const { fields, files, discard } = await readMultipart(request, rules).catch(explain);
  try {
    await accept(fields, formToken, context, url);
    context.set(filesContext, files);
    return await next();
  } finally {
    await discard();
  }
};

/** `formToken`: the one that pages of this session had when the form came. */
async function accept(form: FormData, formToken: string, context: Context, url: URL): Promise<void> {
  const token = form.get("formToken");
  if (typeof token !== "string" || !sameSecret(token, formToken)) {
    const action = url.pathname + url.search;
    const person = await getCurrentUser(context).catch(carrying(context, form, action));
    throw unsent(403, context, form, { action, personId: person?.user.id ?? null });
  }
  context.set(formContext, form);
}

function explain(error: unknown): never {
  if (!(error instanceof MultipartError || error instanceof BodyRefused)) throw error;
  throw error.reason === "large" ? tooLarge() : error.reason === "many" ? tooMany() : broken();
}

const tooLarge = () => data({ message: "Lo que has enviado es demasiado grande." }, 413);
const tooMany = () => data({ message: "Se están enviando demasiadas cosas a la vez. Espera a que acaben." }, 429);
const broken = () => data({ message: "El formulario no ha llegado entero. Vuelve atrás y envíalo otra vez." }, 400);

/** `stranger`: the address of somebody who is not signed in. */
async function parseForm(request: Request, stranger: string | undefined): Promise<FormData> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of boundedBody(request, { maxSize: limits.formBody, stranger })) chunks.push(chunk);
  const headers = { "Content-Type": headerOf(request, "Content-Type") };
  const form = await new Response(Buffer.concat(chunks), { headers }).formData().catch(() => undefined);
  if (!form || [...form.keys()].length > fieldsAtMost) throw broken();
  return form;
}

/** Files of somebody whose session has ended are dropped; their text fields are kept. */
function uploadRules(context: Context, person: CurrentUser | null) {
  const takes = person?.user.status === "active";
  // The largest file of any form; each call of the API refuses by name what is too large for it.
  const maxFile = takes ? limits.importFile : 0;
  return { maxFields: fieldsAtMost, maxFile, by: person?.user.id ?? context.get(ipContext) };
}

// More than any form here has. The cost of parsing grows faster than the number of fields.
const fieldsAtMost = 100;

/** A text field of a form as typed. */
export function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value : "";
}

/**
 * Reads a form's fields by a schema of their shape (the API has the rules) and acts on them. A refusal of the schema or the API becomes the
 * form's next state, with its status.
 */
export async function sendFields<Schema extends z.ZodObject, Result>(
  context: Context,
  schema: Schema,
  act: (fields: z.output<Schema>) => Promise<Result>,
) {
  const form = context.get(formContext);
  const submission = parseWithZod(onlyFields(form, Object.keys(schema.shape)), { schema });
  if (submission.status !== "success") return refusal(form, submission.reply().error ?? {}, 422);
  try {
    return await act(submission.value);
  } catch (error) {
    const { errors, detail, status } = refusalIn(error, [404]);
    const { error: shown } = submission.reply(errors ? { fieldErrors: toLists(errors) } : { formErrors: [detail] });
    return refusal(form, shown ?? {}, status);
  }
}

/** The named text fields only, the first one of each name. */
function onlyFields(form: FormData, names: string[]): FormData {
  const fields = new FormData();
  for (const name of names) if (typeof form.get(name) === "string") fields.set(name, textOf(form, name));
  return fields;
}

const toLists = (errors: Record<string, string>) =>
  Object.fromEntries(Object.entries(errors).map(([name, sentence]) => [name, [sentence]]));

function refusal(form: FormData, error: Record<string, string[] | null>, status: number) {
  const { "": whole, ...fields } = error;
  const errors = Object.fromEntries(Object.entries(fields).map(([name, sentences]) => [name, sentences?.[0] ?? ""]));
  const result: FormResult = { values: typedFields(form), errors, ...(whole?.[0] && { message: whole[0] }) };
  return data(result, status);
}
