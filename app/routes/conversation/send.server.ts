import { type RouterContextProvider, redirect } from "react-router";
import { z } from "zod";
import { ApiProblem } from "../../answers.server.ts";
import { apiContext, formContext, sessionContext } from "../../context.ts";
import { sendFields, textOf } from "../../form.server.ts";
import { saveDraft } from "../../held-draft.server.ts";
import { firstChunk } from "./chunks.server.ts";

const fields = z.object({
  content: z.string().default(""),
  modelId: z.string().optional(),
  parentId: z.string().optional(),
  key: z.string().optional(),
});

/** Sends what the composer holds and goes to its chat; what is refused stays in the composer and in the draft. */
export function send(
  context: Readonly<RouterContextProvider>,
  { chatId, projectId }: { chatId?: string; projectId?: string } = {},
) {
  const form = context.get(formContext);
  return sendFields(context, fields, async ({ parentId, modelId, ...message }) => {
    const json = {
      ...message,
      ...(chatId && { chatId }),
      ...(projectId && { projectId }),
      // An empty one is the first message of the chat, being edited.
      ...(form.has("parentId") && { parentId: parentId ?? null }),
      ...(modelId && { modelId }),
      ...(form.has("edits") && { keepDraft: true }),
    };
    try {
      const started = await firstChunk(context.get(apiContext).api.intelligence.conversation.$post({ json }));
      return redirect(`/conversation/chat/${started.chatId}`, 303);
    } catch (error) {
      if (chatId && error instanceof ApiProblem && error.status === 404) return keepForNewChat(context, form);
      // An edit is no draft of the next message. The text is in the form that comes back in any case.
      if (error instanceof ApiProblem && error.status !== 404 && !projectId && !form.has("edits")) {
        await saveDraft(context, chatId, { content: textOf(form, "content"), modelId: modelId ?? null }).catch(
          tolerate,
        );
      }
      throw error;
    }
  });
}

/** The chat was deleted meanwhile, on another device: the text waits where a new one begins. */
async function keepForNewChat(context: Readonly<RouterContextProvider>, form: FormData) {
  const draft = { content: textOf(form, "content"), modelId: textOf(form, "modelId") || null };
  await saveDraft(context, undefined, draft);
  const title = "Esa conversación ya no existe.";
  const description = "Lo que has escrito está aquí: envíalo y empezará una nueva.";
  context.get(sessionContext).flash({ type: "error", title, description, duration: 0 });
  return redirect("/conversation/chat", 303);
}

function tolerate(error: unknown): void {
  if (!(error instanceof ApiProblem)) throw error;
}
