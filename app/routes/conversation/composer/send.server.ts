import { data, redirect } from "react-router";
import { z } from "zod";
import { limits } from "../../../process/limits.ts";
import { ApiProblem, refusalIn } from "../../../web/api-result.server.ts";
import { apiContext, type Context, formContext, sessionContext } from "../../../web/context.ts";
import { draftOf, saveDraft } from "../../../web/forms/drafts.server.ts";
import { type FormResult, sendFields, textOf } from "../../../web/forms/form.server.ts";
import { typedFields } from "../../../web/forms/unsent-form.server.ts";
import { attachedFiles, type ComposerFile, uploadFiles } from "../../../web/forms/uploads.server.ts";
import { firstChunk } from "../stream/chunks.server.ts";
import { hasRecording, transcribed } from "../voice/transcribed.server.ts";
import { changeQueued } from "./change-queued.server.ts";
import { spokenTo } from "./spoken-to.ts";

/** State that a composer shows again: the typed text, and the files that wait with it. */
export type ComposerResult = FormResult & { files?: ComposerFile[] };

type Where = { chatId?: string; projectId?: string };

const fields = z.object({
  content: z.string().default(""),
  modelId: z.string().optional(),
  parentId: z.string().optional(),
  key: z.string().optional(),
});

/** Sends what the composer holds and goes to its chat; what is refused stays in the composer and in the draft. */
export async function send(context: Context, where: Where = {}) {
  const form = context.get(formContext);
  const before = draftOf(form).fileIds.filter((id) => id !== textOf(form, "remove"));
  const { files, refused } = await uploadFiles(context, { temporary: "1" }, limits.filesPerMessage - before.length);
  const fileIds = [...before, ...files.map(({ id }) => id)];
  // From here on the new files are part of the draft, whatever becomes of the message.
  form.set("fileIds", fileIds.join(","));
  // A recording is transcribed first even if somebody has pressed «Enviar»: they have not read yet what it says.
  if (textOf(form, "intent") === "dictate" || hasRecording(context)) return dictate(context, where, fileIds);
  if (where.chatId && refused.length === 0 && form.has("queued")) return changeQueued(context, where.chatId);
  if (textOf(form, "intent") === "models" && refused.length === 0) {
    await keepDraft(context, where);
    return redirect("/conversation/modelo", 303);
  }
  const onlyFiles = form.has("remove") || textOf(form, "intent") === "attach";
  if (refused.length === 0 && !onlyFiles) {
    const answer = await postMessage(context, where, fileIds);
    if (answer instanceof Response) return answer;
    return data({ ...answer.data, files: await attachedFiles(context, fileIds) }, answer.init ?? {});
  }
  await keepDraft(context, where);
  const result: ComposerResult = {
    values: typedFields(form),
    errors: refused.length > 0 ? { files: refused.join(" ") } : {},
    files: await attachedFiles(context, fileIds),
  };
  return data(result, refused.length > 0 ? 422 : 200);
}

/** Dictated text comes behind the written one. It is not sent yet: the person reads it first. */
async function dictate(context: Context, where: Where, fileIds: string[]) {
  const form = context.get(formContext);
  const heard = await transcribed(context);
  if (heard.text) form.set("content", [textOf(form, "content").trimEnd(), heard.text].filter(Boolean).join(" "));
  await keepDraft(context, where);
  const result: ComposerResult = {
    values: typedFields(form),
    errors: heard.refused ? { audio: heard.refused } : {},
    files: await attachedFiles(context, fileIds),
  };
  return data(result, heard.refused ? 422 : 200);
}

function postMessage(context: Context, { chatId, projectId }: Where, fileIds: string[]) {
  const form = context.get(formContext);
  return sendFields(context, fields, async ({ parentId, modelId, ...message }) => {
    const json = {
      ...message,
      ...(chatId && { chatId }),
      ...(projectId && { projectId }),
      // An empty parentId means that the first message of the chat is being edited.
      ...(form.has("parentId") && { parentId: parentId ?? null }),
      ...spokenTo(modelId),
      ...(fileIds.length > 0 && { fileIds }),
      ...(form.has("edits") ? { keepDraft: true } : { queue: chatId !== undefined }),
      ...(form.has("temporary") && { temporary: true }),
    };
    try {
      const started = await firstChunk(context.get(apiContext).api.intelligence.conversation.$post({ json }));
      return redirect(`/conversation/chat/${started?.chatId ?? chatId}`, 303);
    } catch (error) {
      // A message that was written long ago must not replace the text that is being written now: its sender is told
      // (`pending/send-pending.ts`).
      if ((chatId || projectId) && error instanceof ApiProblem && error.status === 404 && !form.has("sentTo")) {
        return keepForNewChat(context, form, chatId ? "Esa conversación" : "Ese proyecto");
      }
      if (error instanceof ApiProblem && error.status !== 404) await keepDraft(context, { chatId, projectId });
      throw error;
    }
  });
}

/**
 * Saves the draft, except that of an edit, which would replace the draft of the next message. A failure is ignored: the
 * form that is returned holds the text anyway.
 */
async function keepDraft(context: Context, where: Where): Promise<void> {
  const form = context.get(formContext);
  if (form.has("edits")) return;
  await saveDraft(context, where, draftOf(form)).catch((error) => void refusalIn(error, []));
}

/** The chat or project was deleted meanwhile, on another device: the text becomes the draft of a new chat. */
async function keepForNewChat(context: Context, form: FormData, what: string) {
  await saveDraft(context, {}, draftOf(form));
  const title = `${what} ya no existe.`;
  const description = "Lo que has escrito está aquí: envíalo y empezará una nueva.";
  context.get(sessionContext).flash({ type: "error", title, description, duration: 0 });
  return redirect("/conversation/chat", 303);
}
