import { parseWithZod } from "@conform-to/zod/v4";
import { data, type MiddlewareFunction, type RouterContextProvider } from "react-router";
import type { z } from "zod";
import { ApiProblem } from "./answers.server.ts";
import { filesContext, formContext, ipContext, sessionContext } from "./context.ts";
import { limits } from "./limits.ts";
import { isMultipart, MultipartError, readMultipart } from "./multipart.server.ts";
import { getPerson } from "./person.server.ts";
import { sameSecret } from "./secrets.server.ts";

/** What a form shows after it failed: the values as typed, a sentence for each field, one for the whole. */
export type FormResult = { values: Record<string, string>; errors: Record<string, string>; message?: string };

/** Reads the body of every POST once, and only when it comes from a page of this session; an action has no other way to its form. */
export const readForm: MiddlewareFunction<Response> = async ({ request, context }, next) => {
  if (request.method === "GET" || request.method === "HEAD") return next();
  // Files are taken from who has signed in; anybody else's form is a short text.
  if (!isMultipart(request) || !context.get(sessionContext).signedIn) {
    await accept(await parseForm(request), context);
    return next();
  }
  const { fields, files, discard } = await readMultipart(request, await uploadRules(request, context)).catch(explain);
  try {
    await accept(fields, context);
    context.set(filesContext, files);
    return await next();
  } finally {
    await discard();
  }
};

async function accept(form: FormData, context: Readonly<RouterContextProvider>): Promise<void> {
  const token = form.get("formToken");
  const { formToken } = context.get(sessionContext);
  if (typeof token !== "string" || !sameSecret(token, formToken)) {
    const person = await getPerson(context);
    throw data({ formToken, personId: person?.user.id ?? null, resend: Object.entries(typedFields(form)) }, 403);
  }
  context.set(formContext, form);
}

function explain(error: unknown): never {
  if (!(error instanceof MultipartError)) throw error;
  throw error.reason === "large" ? tooLarge() : error.reason === "many" ? tooMany() : broken();
}

const tooLarge = () => data({ message: "Lo que has enviado es demasiado grande." }, 413);
const tooMany = () => data({ message: "Se están subiendo demasiados archivos a la vez. Espera a que acaben." }, 429);
const broken = () => data({ message: "El formulario no ha llegado entero. Vuelve atrás y envíalo otra vez." }, 400);

async function parseForm(request: Request): Promise<FormData> {
  if (Number(request.headers.get("Content-Length") ?? 0) > limits.formBody) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > limits.formBody) throw tooLarge();
    chunks.push(chunk);
  }
  const headers = { "Content-Type": request.headers.get("Content-Type") ?? "" };
  const form = await new Response(Buffer.concat(chunks), { headers }).formData().catch(() => undefined);
  if (!form || [...form.keys()].length > fieldsAtMost) throw broken();
  return form;
}

// The one form that takes another program's whole export.
const importing = /\/importar(\.data)?$/;

/** Nothing is kept of the files of somebody whose session has ended; what they wrote is. */
async function uploadRules(request: Request, context: Readonly<RouterContextProvider>) {
  const person = await getPerson(context);
  const maxFile = importing.test(new URL(request.url).pathname) ? limits.importFile : limits.document;
  const takes = person?.user.status === "active";
  return { maxFields: fieldsAtMost, maxFile: takes ? maxFile : 0, by: person?.user.id ?? context.get(ipContext) };
}

// No form of ours has more; reading fields takes longer than their number alone would make it.
const fieldsAtMost = 100;

const secret = /(^|\.)(formToken|code|secret|apiKey|ticket|stay)$|password/i;

/** What was typed into a form, without its token, files, passwords and codes: these never come back in a page. */
export function typedFields(form: FormData): Record<string, string> {
  return Object.fromEntries(
    [...form].filter((field): field is [string, string] => !secret.test(field[0]) && typeof field[1] === "string"),
  );
}

/** A text field of a form as typed. */
export function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value : "";
}

/**
 * Reads a form's fields by a schema of their shape (the API has the rules) and acts on them. What the schema or the API
 * refuses becomes what the form shows again, with its status.
 */
export async function sendFields<Schema extends z.ZodObject, Result>(
  context: Readonly<RouterContextProvider>,
  schema: Schema,
  act: (fields: z.output<Schema>) => Promise<Result>,
) {
  const form = context.get(formContext);
  const submission = parseWithZod(onlyFields(form, Object.keys(schema.shape)), { schema });
  if (submission.status !== "success") return refusal(form, submission.reply().error ?? {}, 422);
  try {
    return await act(submission.value);
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.status === 404) throw error;
    const { errors, detail, status } = error.body;
    const { error: shown } = submission.reply(errors ? { fieldErrors: toLists(errors) } : { formErrors: [detail] });
    return refusal(form, shown ?? {}, status);
  }
}

/** The texts of the fields that a form has: the first of a name, and none that nobody asked for. */
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
