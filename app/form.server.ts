import { data, type MiddlewareFunction } from "react-router";
import { ApiProblem } from "./answers.server.ts";
import { formContext, sessionContext } from "./context.ts";
import { limits } from "./limits.ts";
import { sameSecret } from "./secrets.server.ts";

/** What a form shows after it failed: the values as typed, a sentence for each field, one for the whole. */
export type FormResult = { values: Record<string, string>; errors: Record<string, string>; message?: string };

/** Reads the body of every POST once, and only when it comes from a page of this session; an action has no other way to its form. */
export const readForm: MiddlewareFunction<Response> = async ({ request, context }) => {
  if (request.method === "GET" || request.method === "HEAD") return;
  const form = await parseForm(request);
  const token = form.get("formToken");
  const { formToken } = context.get(sessionContext);
  if (typeof token !== "string" || !sameSecret(token, formToken)) {
    throw data({ formToken, resend: Object.entries(typedFields(form)) }, 403);
  }
  context.set(formContext, form);
};

async function parseForm(request: Request): Promise<FormData> {
  const tooLarge = data({ message: "Lo que has enviado es demasiado grande." }, 413);
  if (Number(request.headers.get("Content-Length") ?? 0) > limits.formBody) throw tooLarge;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > limits.formBody) throw tooLarge;
    chunks.push(chunk);
  }
  try {
    const headers = { "Content-Type": request.headers.get("Content-Type") ?? "" };
    return await new Response(Buffer.concat(chunks), { headers }).formData();
  } catch {
    throw data({ message: "El formulario no ha llegado entero. Vuelve atrás y envíalo otra vez." }, 400);
  }
}

/** What was typed into a form, without its token, files and password: these never come back in a page. */
export function typedFields(form: FormData): Record<string, string> {
  return Object.fromEntries(
    [...form].filter(
      (field): field is [string, string] =>
        !["formToken", "password"].includes(field[0]) && typeof field[1] === "string",
    ),
  );
}

/** A text field of a form as typed. */
export function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value : "";
}

/** Turns the API's refusal into what the form shows again, with its status. `keep` names the fields that come back. */
export function formProblem(error: unknown, form: FormData, keep: string[]) {
  if (!(error instanceof ApiProblem) || error.status === 404) throw error;
  const { errors = {}, detail, status } = error.body;
  const result: FormResult = {
    values: Object.fromEntries(keep.filter((name) => form.has(name)).map((name) => [name, textOf(form, name)])),
    errors,
    ...(Object.keys(errors).length === 0 && { message: detail }),
  };
  return data(result, status);
}
