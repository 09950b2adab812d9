import { z } from "@hono/zod-openapi";
import { ToolRefused } from "../../tools/tool.server.ts";
import { invalid } from "../http/problem.server.ts";

/** Body of a request that begins signing in at a server of tools (OAuth). */
export const signInRequest = z.strictObject({
  redirect: z.url({ protocol: /^https?$/, error: "La dirección de vuelta tiene que empezar por http:// o https://." }),
});

/** `url`: where the server asks people to sign in. */
export const signInStart = z.object({
  url: z.string().nullable().openapi({ description: "Adónde hay que ir; null: no hace falta iniciar sesión." }),
});

/** Body of the request that ends the sign-in. */
export const signInEnd = z.strictObject({
  brought: z.string().max(4_000, "La dirección de vuelta es demasiado larga.").openapi({
    description: "La consulta de la dirección con la que se ha vuelto: code, state, iss.",
  }),
});

/** Turns a refusal of a server of tools into the refusal of the request. */
export async function refusal<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof ToolRefused ? invalid("id", error.message) : error;
  }
}

/** Handler for `catch`: ignores the refusal of a server, which its row tells. Throws every other error. */
export function unlessRefused(error: unknown): void {
  if (!(error instanceof ToolRefused)) throw error;
}
