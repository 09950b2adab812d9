import type { ModelRow } from "../../db/tables.ts";

/** Ends of addresses that belong to a call, not to a server: people copy them from examples. */
const calls: Record<ModelRow["provider"], RegExp> = {
  openai: /\/(?:chat\/completions|completions|responses|models|embeddings)$/,
  "openai-compatible":
    /\/(?:chat\/completions|completions|responses|models|embeddings|audio\/(?:transcriptions|speech)|images\/generations)$/,
  anthropic: /\/(?:messages|models)$/,
  google: /\/models(?:\/[^/]*)?$/,
  ollama: /\/(?:v1\/chat\/completions|v1\/models|v1|api\/chat|api\/generate|api\/tags|api)$/,
  local: /$^/,
};

/** The address of a model server as it is stored: without the path of a call, which is added to it, and without a last slash. */
export function serverAddressOf(provider: ModelRow["provider"], written: string): string {
  const url = URL.parse(written);
  if (!url) return written;
  const path = url.pathname.replace(/\/+$/, "").replace(calls[provider], "").replace(/\/+$/, "");
  return `${url.origin}${path}${url.search}`;
}

/** Reason why a server can't be used with this provider's protocol, as a sentence; undefined if it may be. */
export function whyNoServer(provider: ModelRow["provider"], written: string): string | undefined {
  const url = URL.parse(written);
  if (!url) return undefined;
  if (url.hash) return "La dirección no puede llevar «#».";
  if (provider === "openai-compatible" && /\/api\/(?:chat|generate|tags)$/.test(url.pathname)) {
    return "Esa es la dirección de la API propia de Ollama. Elige el proveedor Ollama, o escribe la que termina en /v1.";
  }
  if (provider === "openai-compatible" && /\/v1\/messages$/.test(url.pathname)) {
    return "Esa es la dirección de la API de Anthropic. Elige el proveedor Anthropic.";
  }
  return undefined;
}

/** The parts of a stored address: Azure's has parameters (`api-version`), which stand behind the path of each call. */
export function partsOfAddress(stored: string): { base: string; query: Record<string, string> } {
  const [base = "", search = ""] = stored.split("?", 2);
  return { base, query: Object.fromEntries(new URLSearchParams(search)) };
}

/** The same address with `/v1`, which people leave out; undefined where it names a version or a path of its own already. */
export function withVersion(stored: string): string | undefined {
  const url = URL.parse(stored);
  if (url?.pathname !== "/") return undefined;
  return `${url.origin}/v1${url.search}`;
}

/** The headers with a key for a server that speaks as OpenAI's; Azure wants it also under a name of its own. */
export const keyHeaders = (apiKey: string, address: string): Record<string, string> => ({
  Authorization: `Bearer ${apiKey}`,
  ...(/\.azure\.com$/.test(URL.parse(address)?.hostname ?? "") && { "api-key": apiKey }),
});
