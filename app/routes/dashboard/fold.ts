import { redirect } from "react-router";
import { ApiProblem } from "../../answers.server.ts";
import { formContext } from "../../context.ts";
import { textOf } from "../../form.server.ts";
import { safeReturn } from "../../guards.server.ts";
import { draftOf, placeOf, saveDraft } from "../../held-draft.server.ts";
import { limits } from "../../limits.ts";
import { uploadFiles } from "../../uploads.server.ts";
import type { Route } from "./+types/fold";
import { foldCookie } from "./sidebar-cookie.server.ts";

/** Folds or opens the sidebar and goes back to the page; what stands in its composer waits there. */
export async function action({ context, request }: Route.ActionArgs) {
  const form = context.get(formContext);
  if (form.has("content") && !form.has("edits")) {
    const draft = draftOf(form);
    const room = limits.filesPerMessage - draft.fileIds.length;
    const { files } = await uploadFiles(context, { temporary: "1" }, room);
    draft.fileIds.push(...files.map(({ id }) => id));
    // Too long, or its chat is gone: the page says so when it is sent.
    await saveDraft(context, placeOf(form), draft).catch(tolerate);
  }
  const headers = { "Set-Cookie": await foldCookie(textOf(form, "sidebar") === "closed" ? "closed" : "open") };
  return redirect(pathOf(request.headers.get("Referer")), { status: 303, headers });
}

function tolerate(error: unknown): void {
  if (!(error instanceof ApiProblem)) throw error;
}

function pathOf(referer: string | null): string {
  const url = referer ? URL.parse(referer) : null;
  return url ? safeReturn(url.pathname + url.search) : "/conversation/chat";
}

export const loader = () => redirect("/conversation/chat");
