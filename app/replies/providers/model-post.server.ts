import { APICallError } from "@ai-sdk/provider";
import { keyHeaders, partsOfAddress, serverAddressOf, withVersion } from "./model-address.server.ts";
import { fetchModel } from "./model-fetch.server.ts";

/** A request to a model server outside of conversations. `path`: such as «/embeddings». */
type ModelPost = {
  baseUrl: string;
  path: string;
  apiKey: string | null | undefined;
  body: FormData | Record<string, unknown>;
  signal: AbortSignal;
};

/**
 * The answer of a model server. People copy addresses of calls, and leave out `/v1`, which is tried where there is nothing without it.
 * Throws APICallError with the server's words if it refuses, and what `fetch` throws.
 */
export async function postToModel({ baseUrl, path, apiKey, body, signal }: ModelPost): Promise<Response> {
  const headers: Record<string, string> = apiKey ? keyHeaders(apiKey, baseUrl) : {};
  const isForm = body instanceof FormData;
  if (!isForm) headers["Content-Type"] = "application/json";
  const init = { method: "POST", headers, body: isForm ? body : JSON.stringify(body), signal };
  const address = serverAddressOf("openai-compatible", baseUrl);
  let url = urlOf(address, path);
  let answer = await fetchModel(url, init);
  const versioned = withVersion(address);
  if (versioned && (answer.status === 404 || answer.status === 405)) {
    await answer.body?.cancel();
    url = urlOf(versioned, path);
    answer = await fetchModel(url, init);
  }
  if (answer.ok) return answer;
  throw new APICallError({
    message: answer.statusText,
    url,
    requestBodyValues: {},
    statusCode: answer.status,
    responseHeaders: Object.fromEntries(answer.headers),
    responseBody: await answer.text(),
  });
}

function urlOf(address: string, path: string): string {
  const { base, query } = partsOfAddress(address);
  const search = new URLSearchParams(query).toString();
  return `${base}${path}${search && `?${search}`}`;
}
