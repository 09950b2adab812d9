import { accepted } from "../../answers.server.ts";
import { apiContext } from "../../context.ts";
import type { Route } from "./+types/file-content";

/** The bytes of a file: the original to be saved, or an image made anew to be seen. */
export async function loader({ context, params, request, url }: Route.LoaderArgs) {
  const asked = url.searchParams.get("variant");
  const variant = asked === "image" || asked === "preview" ? asked : "original";
  const tag = request.headers.get("If-None-Match");
  const answer = await context
    .get(apiContext)
    .api.file[":id"].content.$get(
      { param: { id: params.id }, query: { variant } },
      tag ? { headers: { "If-None-Match": tag } } : undefined,
    );
  const { body, headers, status } =
    (answer.status as number) === 304 ? answer : await accepted(Promise.resolve(answer));
  return new Response(body as ReadableStream | null, { status, headers });
}
