import { read } from "../../../../web/api-result.server.ts";
import { apiContext } from "../../../../web/context.ts";
import { getHouse } from "../../../../web/house.server.ts";
import { artifactFile } from "../download/artifact-file.server.ts";
import { formatIn } from "../download/download.ts";
import type { Route } from "./+types/shared-download";

/** A shared artifact as a file of `?formato=`. */
export async function loader({ context, params: { token }, url }: Route.LoaderArgs) {
  const [artifact, { name: author }] = await Promise.all([
    read(context.get(apiContext).api.share.artifact[":token"].$get({ param: { token } })),
    getHouse(context),
  ]);
  return artifactFile(artifact, formatIn(url), { author, aiNotice: artifact.aiNotice ?? "", owner: token });
}
