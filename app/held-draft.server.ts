import type { RouterContextProvider } from "react-router";
import { ApiProblem, accepted, read } from "./answers.server.ts";
import { apiContext } from "./context.ts";
import { textOf } from "./form.server.ts";
import { limits } from "./limits.ts";

/** Puts the text that a sign-in form has held back into the composer of the page that a person returns to; nothing typed is lost (product.md §2). */
export async function restoreDraft(
  context: Readonly<RouterContextProvider>,
  path: string,
  form: FormData,
): Promise<void> {
  const { content, fileIds } = draftOf(form, "held.");
  if (!content.trim() && fileIds.length === 0) return;
  const place = {
    chatId: /^\/conversation\/chat\/([^/?]+)/.exec(path)?.[1],
    projectId: /^\/conversation\/project\/([^/?]+)/.exec(path)?.[1],
  };
  try {
    await saveDraft(context, place, draftOf(form, "held."));
  } catch (error) {
    // Another person's chat, or one that is gone: the text waits in the composer for a new one.
    if (!(error instanceof ApiProblem) || !(place.chatId || place.projectId)) throw error;
    await saveDraft(context, {}, { ...draftOf(form, "held."), modelId: null });
  }
}

export type Draft = { content: string; modelId: string | null; fileIds: string[] };

/** What a composer's form holds; the ids of its files stand in one field. */
export function draftOf(form: FormData, prefix = ""): Draft {
  return {
    content: textOf(form, `${prefix}content`),
    modelId: textOf(form, `${prefix}modelId`) || null,
    fileIds: textOf(form, `${prefix}fileIds`).split(",").filter(Boolean).slice(0, limits.filesPerMessage),
  };
}

/** Where a composer's form belongs, as its hidden fields say. */
export const placeOf = (form: FormData) => ({
  chatId: textOf(form, "chatId") || undefined,
  projectId: textOf(form, "projectId") || undefined,
});

/** Keeps the unsent text and files of a chat, of a project's next chat, or of the next new one; without either there is none. */
export async function saveDraft(
  context: Readonly<RouterContextProvider>,
  { chatId, projectId }: { chatId?: string | undefined; projectId?: string | undefined },
  draft: Draft,
): Promise<void> {
  const api = context.get(apiContext);
  const content = draft.content.slice(0, limits.draft);
  const json = { draft: content || draft.fileIds.length > 0 ? { ...draft, content } : null };
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
