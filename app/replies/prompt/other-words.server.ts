import { questionWords } from "../../db/search/words.server.ts";
import { cutText } from "../../process/text/cut-text.ts";
import type { Usage } from "../chunk.ts";
import type { ModelAccess } from "../providers/model-call.server.ts";
import { generate, readWhole } from "../providers/providers.server.ts";

// In ms: the longest wait for a better search.
const patience = 1_500;
const tokensAtMost = 200;
const questionLength = 1_000;
const linesAtMost = 3;
const lineLength = 200;
// Share of the question's words: if the best passage has fewer, the words have found little.
const littleFound = 0.6;

const instructions =
  "Alguien busca en sus documentos. Escribe de otras tres maneras lo que pregunta, con las palabras que tendría un documento que lo contesta: los términos del asunto, sinónimos, y la grafía correcta si hay faltas. Las dos primeras en español; la tercera en inglés. Una por línea, de doce palabras como mucho, sin números de orden ni comillas, y nada más.";

/** Whether the words of a question have found too little, so that other words are worth a search. */
export function isLittle(question: string, hits: { covered: number }[]): boolean {
  const best = Math.max(0, ...hits.map(({ covered }) => covered));
  return best < littleFound * questionWords(question).length;
}

/**
 * Other ways to say a question, asked of a model once; none if the model does not answer in time, or fails: the reply itself will report
 * the failure. Its tokens are added to `spent`.
 */
export async function otherWords(
  question: string,
  model: ModelAccess,
  { signal, silence, spent }: { signal: AbortSignal; silence: number; spent: Usage },
): Promise<string[]> {
  const prompt = {
    system: instructions,
    turns: [{ role: "user" as const, content: question.slice(0, questionLength).toWellFormed() }],
  };
  const asking = { ...model, maxOutputTokens: tokensAtMost, reasoning: null };
  const within = AbortSignal.any([signal, AbortSignal.timeout(patience)]);
  try {
    const { text, usage } = await readWhole(generate(asking, prompt, { signal: within, silence }));
    spent.inputTokens += usage.inputTokens ?? 0;
    spent.outputTokens += usage.outputTokens ?? 0;
    return linesOf(text);
  } catch (error) {
    if (signal.aborted) throw error;
    return [];
  }
}

const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => cutText(line.replace(/^[\s\d.)*-]+|["«»]/g, "").trim(), lineLength))
    .filter((line) => /\p{L}/u.test(line))
    .slice(0, linesAtMost);
