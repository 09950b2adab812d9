import { read } from "../../../web/api-result.server.ts";
import { apiContext, type Context, lightContext } from "../../../web/context.ts";
import { carryLive, replyIn } from "../reply/live.server.tsx";
import { type BranchMessage, showPart } from "../turn/turns.server.ts";

// The versions of a reply that fit beside one another.
const shownAtMost = "6";

type Chat = { id: string; userId: string };
type Answer = {
  id: string;
  name: string;
  /** Place of a reply that grows. */
  marker: string | undefined;
  parts: Awaited<ReturnType<typeof showPart>>[];
  error: string | null;
  written: boolean;
};

/** Versions of the reply to a question, oldest first. `goesOn`: whether other models answer after the one that is writing. */
export async function showAnswers(
  context: Context,
  request: Request,
  chat: Chat,
  parentId: string,
  nameOf: (modelId: string | null) => string,
  goesOn: boolean,
): Promise<Answer[]> {
  const query = { filter: JSON.stringify({ parentId }), limit: shownAtMost };
  const { items } = await read(context.get(apiContext).api.message.$get({ query }));
  const answers: Promise<Answer>[] = items.reverse().map(async (message) => {
    const { id, status, error, content } = message;
    const isLive = status === "streaming";
    const marker = isLive
      ? carryLive(context, replyIn(context, chat, id, request), request, ({ end }) => (
          <End error={end.error} goesOn={goesOn} page={`/conversation/chat/${chat.id}/comparar/${parentId}`} />
        ))
      : undefined;
    const parts = isLive ? [] : await partsOf(chat, message, context.get(lightContext));
    return { id, name: nameOf(message.modelId), marker, parts, error, written: content !== "" };
  });
  return Promise.all(answers);
}

// Without sources and forms: these are in the conversation.
const partsOf = (chat: Chat, message: Pick<BranchMessage, "id" | "parts">, light: boolean) =>
  Promise.all(
    message.parts.map((part) => showPart(chat, { id: message.id, sources: [] }, part, { folds: true, light })),
  );

/** End of a reply that grew: the page loads again, with the button that chooses this reply, and with the next one. */
function End({ error, goesOn, page }: { error: string | undefined; goesOn: boolean; page: string }) {
  return (
    <>
      {error && <p>{error}</p>}
      <meta httpEquiv="refresh" content={`0;url=${page}`} />
      <p>
        <a href={page}>{goesOn ? "Ver la siguiente" : "Elegir"}</a>
      </p>
    </>
  );
}
