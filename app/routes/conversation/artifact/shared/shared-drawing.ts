import { drawingResponse } from "../../../../markdown/drawings/drawing-response.server.ts";
import { read } from "../../../../web/api-result.server.ts";
import { apiContext } from "../../../../web/context.ts";
import { asMarkdown } from "../artifact-text.server.ts";
import type { Route } from "./+types/shared-drawing";

/** A drawing of a shared artifact, as a picture. */
export async function loader({ context, params: { token, key }, request }: Route.LoaderArgs) {
  const artifact = await read(context.get(apiContext).api.share.artifact[":token"].$get({ param: { token } }));
  const picture = await drawingResponse([asMarkdown(artifact, artifact.text)], key, { request, owner: token });
  if (!picture) throw new Response(null, { status: 404 });
  return picture;
}
