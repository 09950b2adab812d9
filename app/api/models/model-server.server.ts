import { encrypt } from "../../process/crypto.server.ts";
import { ReplyError } from "../../replies/errors.server.ts";
import { invalid } from "../http/problem.server.ts";
import { serverUrl, text } from "../http/schemas.server.ts";

/** The address of a server of models. */
export const serverAddress = serverUrl("un modelo", 1_000);

/** The key of that server, as a form sends it. */
export const serverKey = text("La clave", 4_000)
  // As people copy them: with their header, in quotes, with blanks and signs that nobody sees.
  .transform((key) => key.replace(/^Bearer\s{1,9}|^["']|["']$/gi, "").replace(/[\s\u200b-\u200d\u2060\ufeff]/g, ""))
  .refine(
    (key) => /^[!-~]*$/.test(key),
    "La clave lleva un signo que no va en ninguna clave: cópiala otra vez, entera.",
  )
  .nullable()
  .default(null)
  .openapi({ description: "Sin ella se queda la que había." });

type Kept = { id: string; baseUrl: string; apiKey: string | null };

/**
 * The key to store: the new key, encrypted with the row's id, or the stored key if no new one is given. Throws 422 if the stored key would
 * go to another address.
 */
export function keyToStore(modelKey: Buffer, row: Kept, before: Kept | undefined): string | null {
  if (before?.apiKey && !row.apiKey && before.baseUrl !== row.baseUrl) {
    throw invalid("apiKey", "Al cambiar la dirección hay que escribir la clave otra vez.");
  }
  return row.apiKey ? encrypt(row.apiKey, modelKey, row.id) : (before?.apiKey ?? null);
}

/** Waits for the trial of a server. Throws 422 with the reason if it does not answer. */
export async function refuseUnanswered(trial: Promise<unknown>): Promise<void> {
  await trial.catch((error) => {
    if (!(error instanceof ReplyError)) throw error;
    throw invalid("baseUrl", `Se ha probado, y no va. ${error.message}`);
  });
}
