import { read } from "../../../../web/api-result.server.ts";
import { apiContext } from "../../../../web/context.ts";
import { requireUser } from "../../../../web/current-user.server.ts";
import { dashboardOf } from "../../../../web/dashboard.server.ts";
import { requireActive, requireAuth } from "../../../../web/guards.server.ts";
import { getHouse } from "../../../../web/house.server.ts";
import { versionIn } from "../version-in.ts";
import type { Route } from "./+types/download";
import { artifactFile } from "./artifact-file.server.ts";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];

/** A version of an artifact as a file of `?formato=`. */
export async function loader({ context, params: { id }, url }: Route.LoaderArgs) {
  const [artifact, { user }, { aiNotice }, { name: author }] = await Promise.all([
    read(context.get(apiContext).api.artifact[":id"].$get({ param: { id }, query: versionIn(url) })),
    requireUser(context),
    dashboardOf(context),
    getHouse(context),
  ]);
  const notice = artifact.shown?.writer.person ? "" : aiNotice;
  return artifactFile(artifact, formatIn(url), { author, aiNotice: notice, owner: user.id });
}

/** The format of the file that an address asks for. */
export const formatIn = (url: URL): string => url.searchParams.get("formato") ?? "md";
