import { renderedText } from "../../../markdown/rendered.server.ts";
import { digitalSource } from "../../../process/text/digital-source.ts";
import { type BranchMessage, citedIn } from "../turn/turns.server.ts";

/** `at`: address below which drawings are found; without it drawings stay code. `owner`: as in `renderedText`. */
type Shown = { at?: string; name: string; owner: string; light: boolean };

export type ShownRoomTurn = Awaited<ReturnType<typeof showRoomTurn>>;

/** Messages of a guest's conversation as pages show them: texts, and the passages that they cite. */
export const showRoomTurns = (items: BranchMessage[], shown: Shown) =>
  Promise.all(items.map((message) => showRoomTurn(message, shown)));

async function showRoomTurn(message: BranchMessage, { at, name, owner, light }: Shown) {
  const { id, role, status, content, error, parentId, sources } = message;
  const isReply = role === "assistant";
  const env = {
    docId: id,
    ...(at && { drawingsAt: `${at}/dibujo/${id}/` }),
    light,
    ...(sources.length > 0 && { sourcesId: id, sources: sources.length }),
  };
  return {
    ...{ id, role, status, error, parentId },
    name: isReply ? name : "Tú",
    source: isReply ? digitalSource.generated : undefined,
    text: isReply ? "" : content,
    html:
      isReply && status !== "streaming"
        ? await renderedText(`room:${at ?? ""}:${id}:${sources.length}`, content, env, owner)
        : "",
    sources: citedIn(content, sources).map(({ n, title, quote }) => ({ n, title, quote })),
  };
}
