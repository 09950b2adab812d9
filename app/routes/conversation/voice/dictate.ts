import { redirect } from "react-router";
import type { Route } from "./+types/dictate";
import { transcribed } from "./transcribed.server.ts";

/** The text of what a composer's script has recorded. */
export async function action({ context }: Route.ActionArgs) {
  const heard = await transcribed(context);
  return Response.json(heard, { status: heard.refused ? 422 : 200 });
}

export const loader = () => redirect("/conversation/chat");
