import { LiveReply } from "../reply/live-reply.tsx";
import { RoomReplyEnd } from "./room-reply-end.tsx";
import type { ShownRoomTurn } from "./room-turns.server.ts";

/** `at`: address of the room, where its guest may ask again; without it the turn is only read. */
type Props = { turn: ShownRoomTurn; marker?: string | undefined; at?: string };

/** A message of a guest, or the reply to one. */
export function RoomTurn({ turn, marker, at }: Props) {
  const { id, role, status, name, source, text, html } = turn;
  return (
    <article
      className="turn"
      id={`m-${id}`}
      data-role={role}
      data-status={status}
      data-digital-source-type={source}
      aria-busy={marker !== undefined || undefined}
    >
      <h2 className={role === "user" ? "sr-only" : undefined}>{name}</h2>
      {role === "user" && (
        <div className="said" dir="auto">
          {text}
        </div>
      )}
      {role === "assistant" && marker !== undefined && <LiveReply messageId={id} marker={marker} />}
      {role === "assistant" && marker === undefined && (
        <>
          {/* Safe: made by our own renderer, with raw HTML off. */}
          <div className="prose" dir="auto" dangerouslySetInnerHTML={{ __html: html }} />
          <RoomReplyEnd {...turn} questionId={turn.parentId} at={at} />
        </>
      )}
    </article>
  );
}
