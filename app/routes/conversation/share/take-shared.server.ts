import { data, redirect } from "react-router";
import { limits } from "../../../process/limits.ts";
import { type Context, formContext } from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";
import { saveDraft } from "../../../web/forms/drafts.server.ts";
import { type FormResult, textOf } from "../../../web/forms/form.server.ts";
import { typedFields } from "../../../web/forms/unsent-form.server.ts";
import { uploadFiles } from "../../../web/forms/uploads.server.ts";

/** Shared data as one text: its title, text and address; none of them twice. */
export const sharedText = (parts: string[]): string =>
  [...new Set(parts.map((part) => part.trim()).filter(Boolean))].join("\n\n");

/** Adds what was shared to the draft of a new conversation, behind what stands there already, and goes to it. */
export async function takeShared(context: Context) {
  const form = context.get(formContext);
  const { user } = await requireUser(context);
  const before = user.draft ?? { content: "", modelId: null, fileIds: [] };
  const room = limits.filesPerMessage - before.fileIds.length;
  const { files, refused } = await uploadFiles(context, { temporary: "1" }, room);
  const content = sharedText([before.content, textOf(form, "title"), textOf(form, "text"), textOf(form, "url")]);
  await saveDraft(context, {}, { ...before, content, fileIds: [...before.fileIds, ...files.map(({ id }) => id)] });
  if (refused.length === 0) return redirect("/conversation/chat", 303);
  const result: FormResult = { values: typedFields(form), errors: { files: refused.join(" ") } };
  return data(result, 422);
}
