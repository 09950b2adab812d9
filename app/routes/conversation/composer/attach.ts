import { redirect } from "react-router";
import { uploadFiles } from "../../../web/forms/uploads.server.ts";
import type { Route } from "./+types/attach";

/** Takes the files that a composer's script sends while the message is still being written. */
export async function action({ context }: Route.ActionArgs) {
  return Response.json(await uploadFiles(context, { temporary: "1" }));
}

export const loader = () => redirect("/conversation/chat");
