import { limits } from "../../process/limits.ts";
import { ApiProblem, accepted, read } from "../api-result.server.ts";
import { apiContext, type Context } from "../context.ts";
import { composerPage, type DraftPlace } from "./draft-place.ts";
import { textOf } from "./form.server.ts";

/** Whether a form is a composer's: its text goes back there instead of being sent again. */
export const isComposer = (form: FormData) => form.has("content") && form.has("fileIds");

/** Saves what stood in a composer as its draft; returns the page on which it is. */
export async function restoreDraft(context: Context, form: FormData): Promise<string> {
  const draft = draftOf(form);
  const place = placeOf(form);
  if (!draft.content.trim() && draft.fileIds.length === 0) return composerPage(place);
  try {
    await saveDraft(context, place, draft);
    return composerPage(place);
  } catch (error) {
    // The chat is somebody else's or gone: the text becomes the draft of a new chat.
    if (!(error instanceof ApiProblem) || !(place.chatId || place.projectId)) throw error;
    await saveDraft(context, {}, { ...draft, modelId: null });
    return composerPage({});
  }
}

export type ComposerDraft = { content: string; modelId: string | null; fileIds: string[] };

/** The draft in a composer's form; the ids of its files are in one field. */
export function draftOf(form: FormData): ComposerDraft {
  return {
    content: textOf(form, "content"),
    modelId: textOf(form, "modelId") || null,
    fileIds: textOf(form, "fileIds").split(",").filter(Boolean).slice(0, limits.filesPerMessage),
  };
}

/** A draft as the API takes it; null for an empty one. */
export const asStored = (draft: ComposerDraft): ComposerDraft | null =>
  draft.content || draft.fileIds.length > 0 ? draft : null;

/** Which chat or project a composer's form belongs to, by its hidden fields. */
export const placeOf = (form: FormData): DraftPlace => ({
  chatId: textOf(form, "chatId") || undefined,
  projectId: textOf(form, "projectId") || undefined,
});

/**
 * Keeps the unsent text and files of a chat, of a project's next chat, or of the next new chat. An empty text without files
 * deletes the draft.
 */
export async function saveDraft(
  context: Context,
  { chatId, projectId }: DraftPlace,
  draft: ComposerDraft,
): Promise<void> {
  const api = context.get(apiContext);
  const json = { draft: asStored({ ...draft, content: draft.content.slice(0, limits.draft) }) };
  if (chatId) {
    await accepted(api.api.chat[":id"].$patch({ param: { id: chatId }, json }));
    return;
  }
  if (projectId) {
    await accepted(api.api.project[":id"].draft.$put({ param: { id: projectId }, json }));
    return;
  }
  const { user } = await read(api.auth.session.$get());
  await accepted(api.api.user[":id"].$patch({ param: { id: user.id }, json }));
}
