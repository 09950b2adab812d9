import { accepted } from "./answers.server.ts";

type Query = { variant: "original" | "image" | "preview" };
type Options = { headers?: Record<string, string> };
type Answer = Pick<Response, "ok" | "status" | "headers" | "json" | "text"> & { body: ReadableStream | null };

/** Passes the bytes of a file on from the API: the original to be saved, or an image made anew to be seen. */
export async function relayContent(
  request: Request,
  url: URL,
  get: (query: Query, options: Options) => Promise<unknown>,
): Promise<Response> {
  const asked = url.searchParams.get("variant");
  const variant = asked === "image" || asked === "preview" ? asked : "original";
  const tag = request.headers.get("If-None-Match");
  const answer = (await get({ variant }, tag ? { headers: { "If-None-Match": tag } } : {})) as Answer;
  const { body, headers, status } = answer.status === 304 ? answer : await accepted(Promise.resolve(answer));
  // Length and encoding belong to the connection that it came by.
  const kept = ["Content-Type", "Content-Disposition", "Content-Security-Policy", "Cache-Control", "ETag"];
  const passed = kept.flatMap((name): [string, string][] => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  return new Response(body, { status, headers: passed });
}
