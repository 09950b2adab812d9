import { listOf, objectOf, recordOf } from "../../process/text/json.ts";
import type { OwnTool } from "../tool.server.ts";
import { ToolRefused } from "../tool.server.ts";
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
    const prompt = String(descripcion ?? "")
      .trim()
      .slice(0, 4_000);
    if (!prompt) throw new ToolRefused("No se ha dicho qué tiene que verse en la imagen.");
    const size = forma === "apaisada" ? "1536x1024" : forma === "vertical" ? "1024x1536" : "1024x1024";
    const key = secret();
    const answer = await asked(`${(address ?? "https://api.openai.com/v1").replace(/\/+$/, "")}/images/generations`, {
      method: "POST",
      signal,
      redirect: "error",
      headers: { "Content-Type": "application/json", ...(key && { Authorization: `Bearer ${key}` }) },
      body: JSON.stringify({ prompt, size, n: 1, ...(model && { model }) }),
    });
    const bytes = await imageIn(answer, signal);
    const shows = prompt.length > 300 ? `${prompt.slice(0, 299)}…` : prompt;
    return {
      text: "La imagen está hecha y la persona ya la ve.",
      made: [{ bytes, name: "imagen.png", shows, generated: true }],
    };
  },
});

async function asked(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    init.signal?.throwIfAborted();
    throw new ToolRefused("El servicio de imágenes no contesta.", { cause: error });
  }
}

async function imageIn(answer: Response, signal: AbortSignal): Promise<Uint8Array> {
  const body = await bounded(answer).catch(() => Buffer.alloc(0));
  if (answer.status === 401) throw new ToolRefused("El servicio de imágenes no acepta la clave.");
  const said = objectOf(body.toString("utf8"));
  if (!said) throw new ToolRefused("El servicio de imágenes ha contestado algo que no se entiende.");
  const code = recordOf(said.error)?.code;
  if (code === "content_policy_violation" || code === "moderation_blocked") {
    throw new ToolRefused("El servicio de imágenes se ha negado a hacer esa imagen.");
  }
  if (!answer.ok) throw new ToolRefused(`El servicio de imágenes ha contestado ${answer.status}.`);
  const { b64_json, url } = recordOf(listOf(said.data)[0]) ?? {};
  if (typeof b64_json === "string" && b64_json) return Buffer.from(b64_json.replace(/^data:[^,]*,/, ""), "base64");
  if (typeof url !== "string" || !url) throw new ToolRefused("El servicio de imágenes no ha devuelto ninguna imagen.");
  // The service may be on this network; an image address at any other origin has to be public.
  if (URL.parse(url)?.origin === URL.parse(answer.url)?.origin) {
    return bounded(await asked(url, { signal, redirect: "error" }));
  }
  return (await fetchPublic(url, { signal, most: answerAtMost })).bytes;
}

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
