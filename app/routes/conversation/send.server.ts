import { type RouterContextProvider, redirect } from "react-router";
import { ApiProblem, accepted } from "../../answers.server.ts";
import { apiContext, formContext } from "../../context.ts";
import { formProblem, textOf } from "../../form.server.ts";
import { saveDraft } from "../../held-draft.server.ts";
import type { Chunk } from "../../intelligence/chunk.ts";

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
  };
  try {
    const started = await firstChunk(context.get(apiContext).api.intelligence.conversation.$post({ json }));
    return redirect(`/conversation/chat/${started.chatId}`, 303);
  } catch (error) {
    if (error instanceof ApiProblem && error.status !== 404) {
      // As much as a draft may hold; the whole text is in the form that comes back.
      await saveDraft(context, chatId, { content: content.slice(0, 64_000), modelId: modelId ?? null });
    }
    return formProblem(error, form, ["content", "modelId", "key", "parentId"]);
  }
}

/** The `start` object of a stream; the rest is not read, as the reply does not depend on its readers. */
export async function firstChunk(answer: Promise<unknown>): Promise<Extract<Chunk, { type: "start" }>> {
  const response = await accepted(answer as Promise<Response>);
  if (!response.body) throw new Error("No response body reader available");
  for await (const chunk of readChunks(response.body)) {
    if (chunk.type === "start") return chunk;
  }
  throw new Error("the stream ended before it started");
}

/** Reads the seed's stream: JSON objects separated by blank lines; what does not parse is skipped. */
export async function* readChunks(body: ReadableStream<Uint8Array>): AsyncGenerator<Chunk> {
  const decoder = new TextDecoder();
  let buffer = "";
  for await (const bytes of body) {
    buffer += decoder.decode(bytes, { stream: true });
    const parts = buffer.split("\n\n");
    buffer = parts.pop() ?? "";
    for (const part of parts) {
      const chunk = parseChunk(part);
      if (chunk) yield chunk;
    }
  }
}

function parseChunk(text: string): Chunk | undefined {
  try {
    return JSON.parse(text) as Chunk;
  } catch {
    return;
  }
}
