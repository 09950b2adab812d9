import { z } from "@hono/zod-openapi";
import type { ModelRow } from "../../db/tables.ts";
import { describeCause, ReplyError } from "../../replies/errors.server.ts";
import { openModel, storeLearned } from "../../replies/providers/model-access.server.ts";
import type { Learned, OfferedTool, Prompt } from "../../replies/providers/model-call.server.ts";
import { generate } from "../../replies/providers/providers.server.ts";
import type { Services } from "../env.server.ts";

export const trial = z
  .object({
    ok: z.boolean(),
    answer: z.string().openapi({ description: "Lo que ha contestado o, si no ha podido, por qué." }),
    firstTokenMs: z.number().nullable(),
    outputTokens: z.number().nullable(),
    tokensPerSecond: z.number().nullable(),
    takesTools: z
      .boolean()
      .nullable()
      .openapi({ description: "Si su servidor admite herramientas; null: no se ha probado." }),
    thinks: z.boolean().openapi({ description: "Si ha pensado antes de contestar." }),
  })
  .openapi("ModelTrial");

type Trial = z.output<typeof trial>;

// In ms: how long a model may be silent, and how long it may take in all, as a page waits for its answer.
const patience = 30_000;
const longest = 90_000;

/** Tokens per second with one decimal; null if the time since the first token is too short for a meaningful value. */
export function tellSpeed(tokens: number, ms: number): number | null {
  return tokens > 0 && ms > 50 ? Math.round((tokens / ms) * 10_000) / 10 : null;
}

type Asked = { prompt: Prompt; maxOutputTokens: number; signal: AbortSignal; tools?: OfferedTool[] };

/** Asks a model outside of any conversation: nothing is stored. The failure of a provider is returned as an answer, in words. */
export async function askOnce(services: Services, row: ModelRow, asked: Asked): Promise<Trial> {
  const begun = Date.now();
  const late = AbortSignal.timeout(longest);
  let first: number | null = null;
  // Its thoughts count among its tokens.
  let begunToSay: number | undefined;
  let answer = "";
  let tokens = 0;
  let thinks = false;
  let takesTools = asked.tools ? true : null;
  const told = () => ({ firstTokenMs: first, outputTokens: tokens || null, takesTools, thinks });
  try {
    const model = { ...openModel(row, services.modelKey), maxOutputTokens: asked.maxOutputTokens };
    const signal = AbortSignal.any([asked.signal, late]);
    const learn = async (learned: Learned) => {
      if (learned.refused?.includes("tools")) takesTools = false;
      await storeLearned(services, row, learned);
    };
    const { tools } = asked;
    for await (const piece of generate(model, asked.prompt, { signal, silence: patience, learn, tools })) {
      begunToSay ??= Date.now();
      if (piece.type === "reasoning" || piece.type === "mistaken") thinks = true;
      if (piece.type === "text") {
        first ??= Date.now() - begun;
        answer += piece.text;
      } else if (piece.type === "mistaken") answer = "";
      else if (piece.type === "call") answer ||= "Ha llamado a la herramienta de prueba.";
      else if (piece.type === "finish") tokens = piece.usage.outputTokens ?? 0;
    }
  } catch (error) {
    if (late.aborted && answer) return { ok: true, answer: `${answer}…`, tokensPerSecond: null, ...told() };
    if (!(error instanceof ReplyError)) throw error;
    services.log.info({ modelId: row.id, cause: describeCause(error) }, "el modelo probado no contesta");
    return { ok: false, answer: error.message, tokensPerSecond: null, ...told(), firstTokenMs: null };
  }
  const tokensPerSecond = tellSpeed(tokens, Date.now() - (begunToSay ?? begun));
  return { ok: true, answer, tokensPerSecond, ...told() };
}
