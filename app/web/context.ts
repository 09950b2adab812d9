import { createContext, type RouterContextProvider } from "react-router";
import type { ReceivedFile } from "../http/multipart.server.ts";
import type { Log } from "../process/log.server.ts";
import type { Client } from "./api-client.server.ts";
import type { WebSession } from "./session.server.ts";

/** Values that the handler gives to loaders, actions and middleware of one request. */
export const apiContext = createContext<Client>();
/** Path of the thing that an administrator may read after stating a purpose; undefined if nothing was refused for lack of one. */
export const purposeContext = createContext<() => string | undefined>();
export const sessionContext = createContext<WebSession>();
export const logContext = createContext<Log>();
export const nonceContext = createContext<string>();
/** Callback that gets the pattern of the answering route, for metrics. */
export const routeContext = createContext<(route: string) => void>();
/** The client's address; X-Forwarded-For counts only with TRUST_PROXY. */
export const ipContext = createContext<string>();
/** The body of a POST, its token already checked by the root middleware. */
export const formContext = createContext<FormData>();
/** The files that came with the POST, on disk while the request lasts. */
export const filesContext = createContext<ReceivedFile[]>([]);
/** Whether the page is to be a light one (`web/light/`). */
export const lightContext = createContext<boolean>();
/** The id of the reader, set by a loader whose page they may keep, to read it again offline (`public/sw.js`). */
export const keepContext = createContext("");
/** Set by a loader whose page grows while it is sent: `entry.server.tsx` replaces `marker` with the pieces as they come. */
export const liveContext = createContext<LivePart | null>(null);

export type LivePart = {
  marker: string;
  /** HTML pieces. The generator handles its own errors, because the response has begun already. */
  pieces: AsyncGenerator<string>;
  /** Called when the reader has left. */
  leave(): unknown;
};

/** The `context` that React Router gives to a loader or an action. */
export type Context = Readonly<RouterContextProvider>;
