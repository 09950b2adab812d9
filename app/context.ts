import type { ReactNode } from "react";
import { createContext } from "react-router";
import type { Client } from "./api/client.server.ts";
import type { Chunk, Source } from "./intelligence/chunk.ts";
import type { Log } from "./log.server.ts";
import type { ReceivedFile } from "./multipart.server.ts";
import type { WebSession } from "./session.server.ts";

/** What the handler gives to loaders, actions and middleware of one request. */
export const apiContext = createContext<Client>();
export const sessionContext = createContext<WebSession>();
export const logContext = createContext<Log>();
export const nonceContext = createContext<string>();
/** The body of a POST, its token already checked by the root middleware. */
export const formContext = createContext<FormData>();
/** The files that came with it, on disk while the request lasts. */
export const filesContext = createContext<ReceivedFile[]>([]);
/** Set by a loader whose page ends in a reply under way: `entry.server.tsx` writes it into the document at `marker`. */
export const liveContext = createContext<LiveReply | null>(null);

export type LiveReply = {
  marker: string;
  messageId: string;
  sources: Source[];
  /** The reply's chunks, from its beginning. */
  chunks: AsyncGenerator<Chunk>;
  /** What stands under the reply once it has ended. */
  renderEnd(end: Extract<Chunk, { type: "end" }>, sources: LiveReply["sources"], written: boolean): ReactNode;
};
