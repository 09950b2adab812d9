import { drawingResponse } from "../../../markdown/drawings/drawing-response.server.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import { asMarkdown } from "../artifact/artifact-text.server.ts";
import type { Route } from "./+types/artifact-drawing";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];

/** A drawing of a version of an artifact, as a picture; version 0 is the text that is being written. */
export async function loader({ context, params: { id, version, key }, request }: Route.LoaderArgs) {
  const query = /^[1-9]\d{0,6}$/.test(version) ? { version } : {};
  const artifact = await read(context.get(apiContext).api.artifact[":id"].$get({ param: { id }, query }));
  const { user } = await requireUser(context);
  const picture = await drawingResponse([asMarkdown(artifact, artifact.text)], key, { request, owner: user.id });
  if (!picture) throw new Response(null, { status: 404 });
  return picture;
}
