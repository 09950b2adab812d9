import type { ServerContext } from "@modelcontextprotocol/server";
import { readChunks } from "../http/chunk-stream.server.ts";
import { Refused } from "./own-api.server.ts";

/**
 * Reads a reply to its end and reports its progress, so that the program does not give it up. A program that leaves does not stop
 * the reply, which stays in its conversation. Throws Refused for a reply that has failed without a text.
 */
export async function ask(
  answer: { body: ReadableStream<Uint8Array> | null },
  { mcpReq }: ServerContext,
): Promise<string> {
  let text = "";
  let chatId = "";
  let failure: string | undefined;
  const progressToken = mcpReq._meta?.progressToken;
  if (!answer.body) throw new Error("a stream without a body");
  for await (const chunks of readChunks(answer.body)) {
    if (mcpReq.signal.aborted) break;
    for (const one of chunks) {
      if (one.type === "start") chatId = one.chatId;
      else if (one.type === "text") text += one.text;
      else if (one.type === "end") failure = one.error;
    }
    if (progressToken === undefined) continue;
    await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress: text.length } });
  }
  if (!text) throw new Refused(failure ?? "El modelo no ha escrito nada.");
  return [text, failure && `(${failure})`, `Conversación: chat ${chatId}`].filter(Boolean).join("\n\n");
}
