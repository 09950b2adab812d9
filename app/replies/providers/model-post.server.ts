import { APICallError } from "@ai-sdk/provider";
import { fetchModel } from "./model-fetch.server.ts";

/** A request to a model server outside of conversations. `path`: such as «/embeddings». */
type ModelPost = {
  baseUrl: string;
  path: string;
  apiKey: string | null | undefined;
  body: FormData | Record<string, unknown>;
  signal: AbortSignal;
};

/** The answer of a model server. Throws APICallError with the server's words if it refuses, and what `fetch` throws. */
export async function postToModel({ baseUrl, path, apiKey, body, signal }: ModelPost): Promise<Response> {
  // Azure's addresses end in a query.
  const [server = "", query] = baseUrl.split("?", 2);
  const url = `${server.replace(/\/{1,9}$/, "")}${path}${query === undefined ? "" : `?${query}`}`;
  const headers: Record<string, string> = apiKey ? { Authorization: `Bearer ${apiKey}` } : {};
  const isForm = body instanceof FormData;
  if (!isForm) headers["Content-Type"] = "application/json";
  const answer = await fetchModel(url, {
    method: "POST",
    headers,
    body: isForm ? body : JSON.stringify(body),
    signal,
  });
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
