import { apiContext } from "../../../web/context.ts";
import type { Route } from "./+types/diagnosis-receipt";
import { noteLine } from "./diagnosis.server.ts";

// The smallest picture that there is: one transparent point.
const picture = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

/** The picture of a line of the diagnosis; whoever asks for it has seen the line. */
export async function loader({ context, params: { run, line } }: Route.LoaderArgs) {
  await noteLine(context.get(apiContext), run, "received", Number(line));
  return new Response(picture, { headers: { "Content-Type": "image/gif" } });
}
