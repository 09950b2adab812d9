import { randomBytes } from "node:crypto";
import { v7 as newId } from "uuid";
import { isTextBrowser } from "../../../http/text-browsers.server.ts";
import { momentInWords } from "../../../process/time-zones.server.ts";
import { accepted } from "../../../web/api-result.server.ts";
import { apiContext, type Context, lightContext } from "../../../web/context.ts";
import { carryLive } from "../reply/live.server.tsx";
import { chunksOf } from "../stream/chunks.server.ts";
import { asGuest, type GuestConversation, type GuestRoom } from "./guest-session.server.ts";
import { RoomReplyEnd } from "./room-reply-end.tsx";
import { showRoomTurns } from "./room-turns.server.ts";

/** A room as its guests see it, with its times in words, in a time zone. */
export function roomShown(room: GuestRoom, zone: string) {
  const now = Date.now();
  return {
    name: room.name,
    assistant: room.assistant,
    purpose: room.purpose,
    host: room.host,
    until: momentInWords(Date.parse(room.endsAt), now, zone),
    deleted: momentInWords(Date.parse(room.deletedAt), now, zone),
    showsTexts: room.showsTexts,
    aiNotice: room.aiNotice,
    refusal: room.refusal,
    beginnings: room.beginnings,
    enterKey: randomBytes(24).toString("base64url"),
  };
}
export type ShownRoom = ReturnType<typeof roomShown>;

// Messages: from this number down, the page says how many are left.
const fewLeft = 20;

/** A guest's conversation as it is shown, with the place of the reply that is being written. */
export async function talkOf(context: Context, code: string, request: Request, conversation: GuestConversation) {
  const { items, hasEarlier, guest, left, assistant } = conversation;
  const last = items.at(-1);
  const isGrowing = last?.status === "streaming";
  return {
    guest,
    left: left <= fewLeft ? left : undefined,
    earlier: hasEarlier ? items[0]?.id : undefined,
    turns: await showRoomTurns(items, {
      at: `/sala/${code}`,
      name: assistant,
      owner: code,
      light: context.get(lightContext),
    }),
    marker: isGrowing ? await growing(context, code, request, last) : undefined,
    // Text browsers show a page only once it is complete, and by then nothing is left to stop.
    stoppable: isGrowing && !isTextBrowser(request),
    sendKey: newId(),
  };
}
export type ShownTalk = Awaited<ReturnType<typeof talkOf>>;

/** Place of the reply that is being written, which the page carries. */
async function growing(context: Context, code: string, request: Request, reply: GuestConversation["items"][number]) {
  const header = await asGuest(code, request);
  const { follow } = context.get(apiContext).api.guest.message[":messageId"];
  const param = { messageId: reply.id };
  const chunks = (async function* () {
    yield* chunksOf(await accepted(follow.$post({ param, header }, { init: { signal: request.signal } })));
  })();
  const live = { id: reply.id, chunks, drawingsAt: `/sala/${code}/dibujo/${reply.id}/` };
  return carryLive(context, live, request, ({ end, sources }) => (
    <RoomReplyEnd
      id={reply.id}
      questionId={reply.parentId}
      at={`/sala/${code}`}
      status={end.status}
      error={end.error ?? null}
      sources={sources}
    />
  ));
}
