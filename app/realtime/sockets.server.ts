import { createServer, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { DefaultEventsMap, Server } from "socket.io";
import type { Db } from "../db/engine.server.ts";
import type { SharedClock } from "../db/processes/clock.server.ts";
import { hashToken } from "../process/crypto.server.ts";
import type { Log } from "../process/log.server.ts";
import type { Changes } from "./changes.server.ts";

type SocketSession = { id: string; userId: string };
type SessionServer = Server<DefaultEventsMap, DefaultEventsMap, DefaultEventsMap, SocketSession>;
type SocketServices = { db: Db; clock: SharedClock; changes: Changes; log: Log };
/** Returns the access token of an upgrade, from its cookie or bearer; undefined if it comes from another site. */
export type TokenOf = (request: IncomingMessage) => Promise<string | undefined>;

export const socketPath = "/engine.io";
// In bytes. Clients send only protocol packets, which are small.
const largestPacket = 10_000;
// Most sockets of one person: more windows than anybody has open.
const socketsEach = 50;
// In ms. Sessions are rechecked this often, in case a notice was lost.
const recheckEvery = 30_000;

/** Tells people's open pages what has changed, over socket.io. Loaded when the first one connects. */
export class Sockets {
  readonly #services: SocketServices;
  readonly #tokenOf: TokenOf;
  #opening: Promise<SessionServer> | undefined;
  #rechecking: NodeJS.Timeout | undefined;

  constructor(services: SocketServices, tokenOf: TokenOf) {
    this.#services = services;
    this.#tokenOf = tokenOf;
  }

  /** Takes an upgrade of the HTTP server. Whoever is not signed in, or comes from another site, is refused. */
  async take(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const token = await this.#tokenOf(request);
    if (token === undefined) {
      socket.end("HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    this.#opening ??= this.#open();
    const io = await this.#opening;
    const session = await this.#sessionOf(token);
    if (session) sessions.set(request, session);
    io.engine.handleUpgrade(request, socket, head);
  }

  async close(): Promise<void> {
    clearInterval(this.#rechecking);
    // Closed without saying that the session ended, so that pages reconnect to the next process.
    (await this.#opening)?.engine.close();
  }

  async #open(): Promise<SessionServer> {
    const { Server } = await import("socket.io");
    // socket.io is not attached to the server: upgrades are passed to it one by one after they were checked.
    const io: SessionServer = new Server(createServer(), {
      path: socketPath,
      transports: ["websocket"],
      serveClient: false,
      maxHttpBufferSize: largestPacket,
      // Compression would hold memory for each connection, for packets of a few bytes.
      perMessageDeflate: false,
      httpCompression: false,
    });
    io.use((socket, next) => {
      const session = sessions.get(socket.request);
      if (!session) {
        // Answered with a message, because a refused upgrade would look like a server that is down.
        setImmediate(() => socket.conn.close());
        return next(new Error("unauthorized"));
      }
      if ((io.sockets.adapter.rooms.get(session.userId)?.size ?? 0) >= socketsEach) return next(new Error("too many"));
      socket.data = session;
      void socket.join(session.userId);
      next();
    });
    this.#services.changes.listen(({ userId, what }) => {
      if (what === "sessions") void this.#recheck(io, userId);
      else io.to(userId).emit("changed", what);
    });
    this.#rechecking = setInterval(() => this.#recheck(io), recheckEvery).unref();
    return io;
  }

  /** Accepts a living session even if its access token has expired: sockets carry no content. */
  async #sessionOf(token: string): Promise<SocketSession | undefined> {
    return this.#services.db
      .selectFrom("sessions")
      .innerJoin("users", "users.id", "sessions.userId")
      .where("sessions.accessHash", "=", hashToken(token))
      .where("sessions.refreshExpiresAt", ">", this.#services.clock.now())
      .where("users.status", "=", "active")
      .select(["sessions.id", "sessions.userId"])
      .executeTakeFirst();
  }

  /** Closes sockets whose sessions have ended: one person's, or everybody's. */
  async #recheck(io: SessionServer, userId = ""): Promise<void> {
    try {
      const open = [...io.sockets.sockets.values()].filter(({ data }) => !userId || data.userId === userId);
      const ids = [...new Set(open.map(({ data }) => data.id))];
      const alive = new Set<string>();
      for (let at = 0; at < ids.length; at += 500) {
        const part = ids.slice(at, at + 500);
        const rows = await this.#services.db.selectFrom("sessions").where("id", "in", part).select("id").execute();
        for (const { id } of rows) alive.add(id);
      }
      for (const socket of open) if (!alive.has(socket.data.id)) socket.disconnect(true);
    } catch (error) {
      this.#services.log.error({ err: error }, "no se pudieron revisar las conexiones abiertas");
    }
  }
}

const sessions = new WeakMap<IncomingMessage, SocketSession>();
