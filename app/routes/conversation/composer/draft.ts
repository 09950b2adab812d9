import { data, redirect } from "react-router";
import { refusalIn } from "../../../web/api-result.server.ts";
import { formContext } from "../../../web/context.ts";
import { draftOf, placeOf, saveDraft } from "../../../web/forms/drafts.server.ts";
import type { Route } from "./+types/draft";

/** Keeps what is being typed, so that it waits on every device. */
export async function action({ context }: Route.ActionArgs) {
  const form = context.get(formContext);
  try {
    await saveDraft(context, placeOf(form), draftOf(form));
  } catch (error) {
    // The draft is too long or its chat is gone: sending will say so; typing must not be disturbed.
    return data(null, refusalIn(error, []).status);
  }
  return null;
}

export const loader = () => redirect("/conversation/chat");
