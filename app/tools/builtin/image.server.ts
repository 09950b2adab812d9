import { listOf, objectOf, recordOf } from "../../process/text/json.ts";
import type { OwnTool } from "../tool.server.ts";
import { ToolRefused } from "../tool.server.ts";
import { fieldText } from "./field-text.server.ts";
import { fetchPublic } from "./public-request.server.ts";

const answerAtMost = 20 * 1024 * 1024;

type Maker = { address: string | null; secret(): string | null; model: string | null };

/** «Crear una imagen», by a service that speaks OpenAI's way. */
export const image = ({ address, secret, model }: Maker): OwnTool => ({
  tool: "crear_imagen",
  label: "Crear una imagen",
  description:
    "Crea una imagen a partir de una descripción y la enseña a la persona. No hace falta que repitas ni enlaces la imagen.",
  schema: {
    type: "object",
    properties: {
      descripcion: { type: "string", title: "Descripción", description: "Lo que se ve en la imagen, con detalle" },
      forma: { type: "string", title: "Forma", enum: ["cuadrada", "apaisada", "vertical"] },
    },
    required: ["descripcion"],
  },
  reachesOut: false,
  readOnly: false,
  async call({ descripcion, forma }, { signal }) {
    const prompt = fieldText(descripcion).trim().slice(0, 4_000);
    if (!prompt) throw new ToolRefused("No se ha dicho qué tiene que verse en la imagen.");
    const key = secret();
    const [base = "", query] = (address ?? "https://api.openai.com/v1").split("?", 2);
    const path = base.replace(/\/{1,9}$/, "").replace(/\/images\/generations$/, "");
    const url = `${path}/images/generations${query === undefined ? "" : `?${query}`}`;
    const ask = (size: string | undefined) =>
      asked(url, {
        method: "POST",
        signal,
        redirect: "error",
        headers: { "Content-Type": "application/json", ...(key && { Authorization: `Bearer ${key}` }) },
        body: JSON.stringify({ prompt, n: 1, ...(size && { size }), ...(model && { model }) }),
      });
    const bytes = await imageIn(await inSomeSize(ask, String(forma)), signal);
    const shows = prompt.length > 300 ? `${prompt.slice(0, 299)}…` : prompt;
    return {
      text: "La imagen está hecha y la persona ya la ve.",
      made: [{ bytes, name: "imagen.png", shows, generated: true }],
    };
  },
});

// Sizes of gpt-image-1, then of dall-e-3; then the service's own.
const sizes: Record<string, string[]> = {
  apaisada: ["1536x1024", "1792x1024"],
  vertical: ["1024x1536", "1024x1792"],
};

type Read = { answer: Response; body: Buffer };

/** The answer of a service in the first size that it takes. */
async function inSomeSize(ask: (size: string | undefined) => Promise<Response>, shape: string): Promise<Read> {
  const read = async (size: string | undefined): Promise<Read> => {
    const answer = await ask(size);
    return { answer, body: await bounded(answer).catch(() => Buffer.alloc(0)) };
  };
  for (const size of sizes[shape] ?? ["1024x1024"]) {
    const { answer, body } = await read(size);
    const isRefused = answer.status === 400 || answer.status === 422;
    if (!isRefused || !/size|resolution|dimension/i.test(body.toString("utf8"))) return { answer, body };
  }
  return read(undefined);
}

async function asked(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    init.signal?.throwIfAborted();
    throw new ToolRefused("El servicio de imágenes no contesta.", { cause: error });
  }
}

async function imageIn({ answer, body }: Read, signal: AbortSignal): Promise<Uint8Array> {
  if (answer.status === 401) throw new ToolRefused("El servicio de imágenes no acepta la clave.");
  const said = objectOf(body.toString("utf8"));
  if (!said) throw new ToolRefused("El servicio de imágenes ha contestado algo que no se entiende.");
  const { code, type, message } = recordOf(said.error) ?? {};
  const why = [code, type, message].filter((one) => typeof one === "string").join(" ");
  if (!answer.ok || why) {
    const known = refusals.find(([pattern, status]) => pattern.test(why) || status === answer.status)?.[2];
    throw new ToolRefused(known ?? `El servicio de imágenes ha contestado ${answer.status}.`);
  }
  const { b64_json, url } = recordOf(listOf(said.data)[0]) ?? {};
  if (typeof b64_json === "string" && b64_json) return Buffer.from(b64_json.replace(/^data:[^,]*,/, ""), "base64");
  if (typeof url === "string" && url.startsWith("data:")) return Buffer.from(url.replace(/^[^,]*,/, ""), "base64");
  if (typeof url !== "string" || !url) throw new ToolRefused("El servicio de imágenes no ha devuelto ninguna imagen.");
  // The service may be on this network; an image address at any other origin has to be public.
  const place = URL.parse(url, answer.url);
  if (place && place.origin === URL.parse(answer.url)?.origin) {
    return bounded(await asked(place.href, { signal, redirect: "error" }));
  }
  return (await fetchPublic(url, { signal, most: () => answerAtMost })).bytes;
}

const refusals: [said: RegExp, status: number | undefined, sentence: string][] = [
  [
    /content_?policy|moderation|content_?filter|safety|ResponsibleAI/i,
    undefined,
    "El servicio de imágenes se ha negado a hacer esa imagen.",
  ],
  [/billing|quota|insufficient|credit/i, 402, "El servicio de imágenes no tiene saldo. Avisa a quien administra."],
  [/rate_?limit/i, 429, "El servicio de imágenes no admite más por ahora. Espera un momento."],
  [/must be verified/i, 403, "El servicio de imágenes no deja usarse con esa clave. Avisa a quien administra."],
  [/overloaded/i, 503, "El servicio de imágenes está ocupado. Espera un momento."],
];

async function bounded(answer: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length;
    if (bytes > answerAtMost) throw new ToolRefused("La imagen es demasiado grande.");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
