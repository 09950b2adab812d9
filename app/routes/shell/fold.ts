import { redirect } from "react-router";
import { limits } from "../../process/limits.ts";
import { refusalIn } from "../../web/api-result.server.ts";
import { formContext } from "../../web/context.ts";
import { draftOf, placeOf, saveDraft } from "../../web/forms/drafts.server.ts";
import { textOf } from "../../web/forms/form.server.ts";
import { uploadFiles } from "../../web/forms/uploads.server.ts";
import { pathOf } from "../../web/referer.server.ts";
import type { Route } from "./+types/fold";
import { foldCookie } from "./sidebar-cookie.server.ts";

/** Folds or opens the sidebar and returns to the page, after saving the text and files in its composer as a draft. */
export async function action({ context, request }: Route.ActionArgs) {
  const form = context.get(formContext);
  if (form.has("content") && !form.has("edits")) {
    const draft = draftOf(form);
    const room = limits.filesPerMessage - draft.fileIds.length;
    const { files } = await uploadFiles(context, { temporary: "1" }, room);
    draft.fileIds.push(...files.map(({ id }) => id));
    // The draft may be too long, or its chat gone: the page says so when the form is sent.
    await saveDraft(context, placeOf(form), draft).catch((error) => void refusalIn(error, []));
  }
  const headers = { "Set-Cookie": await foldCookie(textOf(form, "sidebar") === "closed" ? "closed" : "open") };
  return redirect(pathOf(request.headers.get("Referer")), { status: 303, headers });
}

export const loader = () => redirect("/conversation/chat");
