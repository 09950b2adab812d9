import { redirect } from "react-router";
import { apiContext } from "../../../web/context.ts";
import { relayBytes } from "../../../web/file-response.server.ts";
import { getHouse } from "../../../web/house.server.ts";
import type { Route } from "./+types/image";

/** Pictures by the last part of their address: the API's kind of picture, and our own picture for a house without one. */
const pictures: Record<string, { kind: "logo" | "icon" | "largeIcon"; of: "logo" | "icon"; ours: string }> = {
  logotipo: { kind: "logo", of: "logo", ours: "/icons/icon-192.png" },
  icono: { kind: "icon", of: "icon", ours: "/icons/icon-192.png" },
  "icono-grande": { kind: "largeIcon", of: "icon", ours: "/icons/icon-512.png" },
};

/** The logo or the icon of the house. */
export async function loader({ context, params, request, url }: Route.LoaderArgs) {
  const picture = pictures[params.picture];
  if (!picture) throw new Response(null, { status: 404 });
  const version = (await getHouse(context))[picture.of];
  if (!version) return redirect(picture.ours);
  const answer = await relayBytes(request, (options) =>
    context.get(apiContext).api.house.image[":kind"].$get({ param: { kind: picture.kind } }, options),
  );
  // Another picture has another version in its address.
  if (url.searchParams.get("v") === version) answer.headers.set("Cache-Control", "public, max-age=31536000, immutable");
  return answer;
}
