import { redirect } from "react-router";
import { formContext, sessionContext } from "../../context.ts";
import { textOf } from "../../form.server.ts";
import { safeReturn } from "../../guards.server.ts";
import { chatOf, saveDraft } from "../../held-draft.server.ts";
import type { Route } from "./+types/fold";

/** Folds or opens the sidebar and goes back to the page; what stands in its composer waits there. */
export async function action({ context, request }: Route.ActionArgs) {
  const form = context.get(formContext);
  context.get(sessionContext).sidebar = textOf(form, "sidebar") === "closed" ? "closed" : "open";
  const back = pathOf(request.headers.get("Referer"));
  if (form.has("content") && !form.has("edits")) {
    const draft = { content: textOf(form, "content"), modelId: textOf(form, "modelId") || null };
    await saveDraft(context, chatOf(back), draft);
  }
  return redirect(back, 303);
}

function pathOf(referer: string | null): string {
  const url = referer ? URL.parse(referer) : null;
  return url ? safeReturn(url.pathname + url.search) : "/conversation/chat";
}

export const loader = () => redirect("/conversation/chat");
