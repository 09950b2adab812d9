import { type RouterContextProvider, redirect } from "react-router";
import { ApiProblem } from "../../answers.server.ts";
import { apiContext, formContext } from "../../context.ts";
import { formProblem, textOf } from "../../form.server.ts";
import { saveDraft } from "../../held-draft.server.ts";
import { firstChunk } from "./chunks.server.ts";

/** Sends what the composer holds and goes to its chat; what is refused stays in the composer and in the draft. */
export async function send(context: Readonly<RouterContextProvider>, chatId?: string) {
  const form = context.get(formContext);
  const content = textOf(form, "content");
  const modelId = textOf(form, "modelId") || undefined;
  const json = {
    ...(chatId && { chatId }),
    ...(form.has("parentId") && { parentId: textOf(form, "parentId") || null }),
    ...(modelId && { modelId }),
    content,
    key: textOf(form, "key"),
    ...(form.has("edits") && { keepDraft: true }),
  };
  try {
    const started = await firstChunk(context.get(apiContext).api.intelligence.conversation.$post({ json }));
    return redirect(`/conversation/chat/${started.chatId}`, 303);
  } catch (error) {
    // An edit is no draft of the next message. The text is in the form that comes back in any case.
    if (error instanceof ApiProblem && error.status !== 404 && !form.has("edits")) {
      await saveDraft(context, chatId, { content, modelId: modelId ?? null }).catch(tolerate);
    }
    return formProblem(error, form, ["content", "modelId", "key", "parentId", "edits"]);
  }
}

function tolerate(error: unknown): void {
  if (!(error instanceof ApiProblem)) throw error;
}
