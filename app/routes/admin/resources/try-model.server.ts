import { cutText } from "../../../process/text/cut-text.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext, type Context } from "../../../web/context.ts";

/** How a model did: whether it answered, and in words what and how fast. */
export type Tried = { ok: boolean; text: string };

const longest = 300;

/** Whether an item of a list can be tried: a model that is asked over the wire. */
export const mayBeTried = (path: string, { provider }: Record<string, unknown>) =>
  path === "model" && provider !== "local";

/** Asks a model something short. */
export async function tryModel(context: Context, id: string): Promise<Tried> {
  const tried = await read(context.get(apiContext).api.model[":id"].test.$post({ param: { id } }));
  const answer = cutText(tried.answer, longest);
  if (!tried.ok) return { ok: false, text: answer };
  const say = (value: number) => value.toLocaleString("es", { maximumFractionDigits: 1 });
  const speed = tried.tokensPerSecond === null ? "" : ` ${say(tried.tokensPerSecond)} tokens por segundo.`;
  const { takesTools, thinks, seesImages, contextWindow } = tried;
  const yesNo = (is: boolean) => (is ? "sí" : "no");
  const found = [
    takesTools !== null && `Herramientas: ${yesNo(takesTools)}.`,
    seesImages !== null && `Imágenes: ${yesNo(seesImages)}.`,
    thinks && "Piensa antes de escribir.",
    contextWindow !== null && `Ventana: ${contextWindow.toLocaleString("es")} tokens.`,
  ].filter(Boolean);
  const words = `Primera palabra en ${say((tried.firstTokenMs ?? 0) / 1000)} s.${speed} «${answer}»`;
  return { ok: true, text: [words, ...found].join(" ") };
}
