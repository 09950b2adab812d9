import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { textsIn } from "../../process/text/json.ts";
import type { Chunk } from "../../replies/chunk.ts";
import { branchOf } from "../chats/branch.server.ts";
import type { ApiEnv, Services } from "../env.server.ts";
import { notFound } from "../http/problem.server.ts";
import { iso } from "../http/schemas.server.ts";
import { type HostedRoom, readFor } from "./guest.server.ts";

/** A room as those who come to it see it. */
export const shownRoom = {
  name: z.string(),
  assistant: z.string(),
  purpose: z.string(),
  beginnings: z.array(z.string()),
  host: z.string().openapi({ description: "Quién la ha abierto." }),
  endsAt: z.string(),
  deletedAt: z.string().openapi({ description: "Cuándo se borra lo que se ha escrito en ella." }),
  showsTexts: z.boolean().openapi({ description: "Si quien la ha abierto lee lo que se escribe." }),
  aiNotice: z.string(),
};
export const showRoom = (c: Context<ApiEnv>, { room, hostName, assistant }: HostedRoom) => {
  const { config } = c.var.services;
  const endsAt = Number(room.endsAt);
  return {
    ...{ name: room.name, assistant: assistant?.name ?? room.name, purpose: assistant?.purpose ?? "", host: hostName },
    beginnings: textsIn(assistant?.beginnings ?? "[]"),
    ...{ endsAt: iso(endsAt), deletedAt: iso(endsAt + readFor), showsTexts: room.showsTexts === 1 },
    aiNotice: config.aiNotice,
  };
};

/** Turns of a guest's chat: texts and their sources, as guests can't open anything else. */
export async function guestBranch({ db }: Services, chatId: string, before?: string) {
  const chat = await db
    .selectFrom("chats")
    .where("id", "=", chatId)
    .select(["id", "leafId", "userId", "sessionId"])
    .executeTakeFirstOrThrow(notFound);
  const reader = { id: chat.userId, sessionId: chat.sessionId ?? "" };
  const { items, hasEarlier } = await branchOf(db, chat, reader, { before });
  return {
    items: items.map((item) => ({ ...item, parts: item.parts.filter(({ kind }) => kind === "text") })),
    hasEarlier,
  };
}

type ShownTurn = Awaited<ReturnType<typeof guestBranch>>["items"][number];

/** A turn without the data of the host: the model, the counts of its tokens, and the sentences about failures. */
export const forGuest = (turn: ShownTurn): ShownTurn => ({
  ...turn,
  ...{ modelId: null, inputTokens: null, outputTokens: null, reasoningTokens: null },
  error: guestSentence(turn.status),
});

const guestSentence = (status: string) =>
  status === "failed" ? "No se ha podido contestar. Reinténtalo, o avisa a quien te dio el enlace." : null;

/** Chunks of a reply for a guest: its text, sources and end. `part-end` ends thoughts, calls and pictures, and is left out like them. */
export async function* forGuests(chunks: AsyncGenerator<Chunk[]>): AsyncGenerator<Chunk[]> {
  const others: Chunk["type"][] = ["reasoning", "tool", "image", "part-end"];
  for await (const some of chunks) {
    const seen = some.filter(
      (chunk) => !others.includes(chunk.type) && (chunk.type !== "part" || chunk.kind === "text"),
    );
    yield seen.map((chunk) => (chunk.type === "end" ? endForGuest(chunk.status) : chunk));
  }
}

function endForGuest(status: Extract<Chunk, { type: "end" }>["status"]): Chunk {
  const error = guestSentence(status);
  return { type: "end", status, usage: { inputTokens: 0, outputTokens: 0 }, ...(error && { error }) };
}
