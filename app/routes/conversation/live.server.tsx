import type { RouterContextProvider } from "react-router";
import { v7 as newId } from "uuid";
import { apiContext, liveContext, sessionContext } from "../../context.ts";
import { FormToken } from "../../ui/post-form.tsx";
import { followReply } from "./follow-reply.server.ts";
import { ReplyEnd } from "./reply-end.tsx";
import { type ShownTurn, showSource } from "./turns.server.ts";

/** Has the document carry a reply under way; answers the marker that the page puts in its place. */
export function carryLive(
  context: Readonly<RouterContextProvider>,
  chatId: string,
  turn: ShownTurn,
  signal: AbortSignal,
): string {
  const marker = newId();
  const { formToken } = context.get(sessionContext);
  context.set(liveContext, {
    marker,
    messageId: turn.id,
    sources: [],
    chunks: followReply(context.get(apiContext), turn.id, signal),
    renderEnd: (end, sources, written) => (
      <FormToken value={formToken}>
        <ReplyEnd
          chatId={chatId}
          turn={{
            ...turn,
            status: end.status,
            error: end.error ?? null,
            sources: sources.map((source) => showSource(chatId, turn.id, source)),
            written,
          }}
        />
      </FormToken>
    ),
  });
  return marker;
}
