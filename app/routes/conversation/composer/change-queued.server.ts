import { redirect } from "react-router";
import { limits } from "../../../process/limits.ts";
import { accepted, read, tellRefusal } from "../../../web/api-result.server.ts";
import { apiContext, type Context, formContext, sessionContext } from "../../../web/context.ts";
import { asStored, type ComposerDraft, draftOf, saveDraft } from "../../../web/forms/drafts.server.ts";
import { textOf } from "../../../web/forms/form.server.ts";

/**
 * Carries out a button of the message that waits in a chat: sends it, takes it back, or moves it into the composer, before what is
 * typed there. What is typed is kept as the draft.
 */
export async function changeQueued(context: Context, chatId: string): Promise<Response> {
  const form = context.get(formContext);
  const { ":id": chat } = context.get(apiContext).api.chat;
  const param = { id: chatId };
  const typed = draftOf(form);
  try {
    if (textOf(form, "queued") === "send") {
      await saveDraft(context, { chatId }, typed);
      await accepted(chat.queued.$post({ param }));
    } else {
      const { queued } = await read(chat.$get({ param }));
      const draft = textOf(form, "queued") === "edit" && queued ? before(queued, typed) : typed;
      if (draft) await accepted(chat.$patch({ param, json: { queued: null, draft: asStored(draft) } }));
      else {
        await saveDraft(context, { chatId }, typed);
        tellTooLong(context);
      }
    }
  } catch (error) {
    await saveDraft(context, { chatId }, typed);
    tellRefusal(context)(error);
  }
  return redirect(`/conversation/chat/${chatId}`, 303);
}

/** A draft of the waiting message and the typed text; undefined if both are too much for one draft. */
function before(queued: Pick<ComposerDraft, "content" | "fileIds">, typed: ComposerDraft): ComposerDraft | undefined {
  const content = [queued.content, typed.content].filter((text) => text.trim()).join("\n\n");
  const fileIds = [...new Set([...queued.fileIds, ...typed.fileIds])];
  const fits = content.length <= limits.draft && fileIds.length <= limits.filesPerMessage;
  return fits ? { ...typed, content, fileIds } : undefined;
}

function tellTooLong(context: Context): void {
  const title = "Lo que espera y lo que escribes no caben en un mensaje.";
  const description = "Envía o acorta antes lo que estás escribiendo.";
  context.get(sessionContext).flash({ type: "error", title, description, duration: 0 });
}
