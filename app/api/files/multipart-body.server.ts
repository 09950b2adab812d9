import type { Context } from "hono";
import { isMultipart, type Multipart, MultipartError, readMultipart } from "../../http/multipart.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { Problem } from "../http/problem.server.ts";

const maxFields = 10;

/**
 * The form of a call with files: what a page of this process has read already, or the body, read now with at most `maxFile`
 * bytes of each file. Throws 415, 413, 429 and 400, each with its cause.
 */
export async function multipartBody(c: Context<ApiEnv>, maxFile: number): Promise<Multipart> {
  const { received } = c.env;
  if (received) return { fields: received, files: received.files, discard: async () => {} };
  if (!isMultipart(c.req.raw)) throw new Problem(415, "Los archivos se envían como multipart/form-data.");
  return readMultipart(c.req.raw, { maxFields, maxFile, by: c.var.person.id }).catch(explain);
}

/** The texts of a form by their names; the last one where several share a name. */
export const textFields = ({ fields }: Multipart): Record<string, string | undefined> =>
  Object.fromEntries([...fields].map(([name, value]) => [name, String(value)]));

function explain(error: unknown): never {
  if (!(error instanceof MultipartError)) throw error;
  switch (error.reason) {
    case "large":
      throw new Problem(413, "Lo que has enviado pesa demasiado. Envía los archivos en varias veces.");
    case "many":
      throw new Problem(429, "Se están subiendo demasiados archivos a la vez. Espera a que acaben.");
    case "broken":
      throw new Problem(400, "Los archivos no han llegado enteros. Vuelve a enviarlos.");
  }
}
