import { accepted } from "./api-result.server.ts";

type FileQuery = { variant: "original" | "image" | "preview" };
type HeaderOptions = { headers?: Record<string, string> };
type FileAnswer = Pick<Response, "ok" | "status" | "headers" | "json" | "text"> & { body: ReadableStream | null };

/** Relays the content of a file from the API: the original as a download, or a re-encoded image for display. */
export async function relayContent(
  request: Request,
  url: URL,
  get: (query: FileQuery, options: HeaderOptions) => Promise<unknown>,
): Promise<Response> {
  const asked = url.searchParams.get("variant");
  const variant = asked === "image" || asked === "preview" ? asked : "original";
  const tag = request.headers.get("If-None-Match");
  const answer = (await get({ variant }, tag ? { headers: { "If-None-Match": tag } } : {})) as FileAnswer;
  const { body, headers, status } = answer.status === 304 ? answer : await accepted(Promise.resolve(answer));
  // Length and encoding belong to the API's response and may differ here.
  const kept = ["Content-Type", "Content-Disposition", "Content-Security-Policy", "Cache-Control", "ETag"];
  const passed = kept.flatMap((name): [string, string][] => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  return new Response(body, { status, headers: passed });
}
