import { createContext } from "react-router";
import type { Client } from "./api/client.server.ts";
import type { Log } from "./log.server.ts";
import type { ReceivedFile } from "./multipart.server.ts";
import type { WebSession } from "./session.server.ts";

/** What the handler gives to loaders, actions and middleware of one request. */
export const apiContext = createContext<Client>();
export const sessionContext = createContext<WebSession>();
export const logContext = createContext<Log>();
export const nonceContext = createContext<string>();
/** The address that a request came from, as far as the proxies in front are believed. */
export const ipContext = createContext<string>();
/** The body of a POST, its token already checked by the root middleware. */
export const formContext = createContext<FormData>();
/** The files that came with it, on disk while the request lasts. */
export const filesContext = createContext<ReceivedFile[]>([]);
/** Set by a loader whose page goes on while it is being sent: `entry.server.tsx` writes the pieces in place of `marker`. */
export const liveContext = createContext<LivePart | null>(null);

export type LivePart = {
  marker: string;
  /** HTML, as it comes. It answers for its own errors: the page has begun. */
  pieces: AsyncGenerator<string>;
  /** The reader has left. */
  leave(): unknown;
};
