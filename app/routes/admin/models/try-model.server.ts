import { renderSafely } from "../../../markdown/rendered.server.ts";
import { cutText } from "../../../process/text/cut-text.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext, type Context } from "../../../web/context.ts";

/** How a trial went: facts in words, and the answer of the model as HTML, or the reason why there is none. */
export type Tried = { ok: boolean; facts: string; html: string };

const longest = 300;

/** «Probar»: asks a model something short; returns whether it answered, its answer and its speed. */
export async function tryModel(context: Context, id: string): Promise<Tried> {
  const tried = await read(context.get(apiContext).api.model[":id"].test.$post({ param: { id } }));
  const html = await renderSafely(cutText(tried.answer, longest), "administration");
  if (!tried.ok) return { ok: false, facts: "", html };
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
  const tokens = tried.outputTokens === null ? "" : ` ${say(tried.outputTokens)} tokens.`;
  const words = `Primera palabra en ${say((tried.firstTokenMs ?? 0) / 1000)} s.${tokens}${speed}`;
  return { ok: true, facts: [words, ...found].join(" "), html };
}

/** «Buscar modelos»: adds the models of the known servers that are missing here; models of servers added by hand come turned off. */
export async function discoverModels(context: Context) {
  const { found, silent } = await read(context.get(apiContext).api.model.discover.$post());
  const missing =
    silent.length > 0 ? ` No ${silent.length === 1 ? "contesta" : "contestan"}: ${silent.join(", ")}.` : "";
  if (found === 0) {
    return { type: "info", title: `No hay modelos que no estuvieran ya.${missing}` } as const;
  }
  const title = `Modelos nuevos: ${found}. Los de servidores añadidos a mano están desactivados.${missing}`;
  return { type: "success", title } as const;
}
