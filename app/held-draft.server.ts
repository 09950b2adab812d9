import type { RouterContextProvider } from "react-router";
import { ApiProblem, accepted, read } from "./answers.server.ts";
import { apiContext } from "./context.ts";

/** Puts text back into the composer of the page that a person returns to; nothing typed is lost (product.md §2). */
export async function restoreDraft(
  context: Readonly<RouterContextProvider>,
  path: string,
  content: string,
  modelId: string,
): Promise<void> {
  if (!content.trim()) return;
  const chatId = /^\/conversation\/chat\/([^/?]+)/.exec(path)?.[1];
  try {
    await saveDraft(context, chatId, { content, modelId: modelId || null });
  } catch (error) {
    // Another person's chat, or one that is gone: the text waits in the composer for a new one.
    if (!(error instanceof ApiProblem) || error.status !== 404 || !chatId) throw error;
    await saveDraft(context, undefined, { content, modelId: null });
  }
}

/** Keeps the unsent text of a chat, or of the next new one; an empty text clears it. */
export async function saveDraft(
  context: Readonly<RouterContextProvider>,
  chatId: string | undefined,
  draft: { content: string; modelId: string | null },
): Promise<void> {
  const api = context.get(apiContext);
  const json = { draft: draft.content ? draft : null };
  if (chatId) {
    await accepted(api.api.chat[":id"].$patch({ param: { id: chatId }, json }));
    return;
  }
  const { user } = await read(api.auth.session.$get());
  await accepted(api.api.user[":id"].$patch({ param: { id: user.id }, json }));
}
