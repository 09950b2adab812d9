import { accepted } from "./api-result.server.ts";

type FileQuery = { variant: "original" | "image" | "preview" };
type HeaderOptions = { headers?: Record<string, string> };
type FileAnswer = Pick<Response, "ok" | "status" | "headers" | "json" | "text"> & { body: ReadableStream | null };

const requestHeaders = ["If-None-Match", "Range", "If-Range"];
const responseHeaders = [
  "Content-Type",
  "Content-Disposition",
  "Content-Security-Policy",
  "Cache-Control",
  "ETag",
  "Accept-Ranges",
  "Content-Range",
];
// Not modified, and range not satisfiable: neither has a sentence to be shown.
const bare = [304, 416];

/** Relays the content of a file from the API: the original as a download, or a re-encoded image for display. */
export function relayContent(
  request: Request,
  url: URL,
  get: (query: FileQuery, options: HeaderOptions) => Promise<unknown>,
): Promise<Response> {
  const wanted = url.searchParams.get("variant");
  const variant = wanted === "image" || wanted === "preview" ? wanted : "original";
  return relayBytes(request, (options) => get({ variant }, options));
}

/** Relays bytes from the API, or the part that the browser asks for. */
export async function relayBytes(
  request: Request,
  get: (options: HeaderOptions) => Promise<unknown>,
): Promise<Response> {
  const answer = (await get({ headers: copied(request.headers, requestHeaders) })) as FileAnswer;
  const { body, headers, status } = bare.includes(answer.status) ? answer : await accepted(Promise.resolve(answer));
  // `fetch` decompresses a body that a proxy before the API has compressed: its Content-Length would be wrong.
  const length = headers.has("Content-Encoding") ? [] : ["Content-Length"];
  return new Response(body, { status, headers: copied(headers, [...responseHeaders, ...length]) });
}

const copied = (headers: Headers, names: string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name): [string, string][] => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
