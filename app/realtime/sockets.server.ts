import { createServer, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Server } from "socket.io";
import type { Db } from "../db/connection.server.ts";
import type { Log } from "../log.server.ts";
import { hashToken } from "../secrets.server.ts";
import type { Changes } from "./changes.server.ts";

type Session = { id: string; userId: string };
type Services = { db: Db; changes: Changes; log: Log };
/** Reads the access token that an upgrade came with, of its cookie or its bearer; undefined where it is of no page of this site. */
export type TokenOf = (request: IncomingMessage) => Promise<string | undefined>;

// The seed's socket path (§7).
export const socketPath = "/engine.io";
// Nobody has anything to send here: what a browser sends besides the protocol is small.
const largestPacket = 10_000;
// More windows than anybody has open.
const socketsEach = 50;
// What was missed by a lost message or another process is found by then.
const recheckEvery = 30_000;

/** Tells people's open pages what has changed, over socket.io. Loaded when the first one connects. */
export class Sockets {
  readonly #services: Services;
  readonly #tokenOf: TokenOf;
  #opening: Promise<Server> | undefined;
  #rechecking: NodeJS.Timeout | undefined;

  constructor(services: Services, tokenOf: TokenOf) {
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
    io.engine.handleUpgrade(request as never, socket as never, head);
  }

  async close(): Promise<void> {
    clearInterval(this.#rechecking);
    // Not as if their sessions had ended: pages come back to whoever takes over.
    (await this.#opening)?.engine.close();
  }

  async #open(): Promise<Server> {
    const { Server } = await import("socket.io");
    // The upgrades are handed over one by one, by whoever has looked at them first.
    const io = new Server(createServer(), {
      path: socketPath,
      transports: ["websocket"],
      serveClient: false,
      maxHttpBufferSize: largestPacket,
      // It would hold some memory for each connection, for packets of a few bytes.
      perMessageDeflate: false,
      httpCompression: false,
    });
    io.use((socket, next) => {
      const session = sessions.get(socket.request);
      if (!session) {
        // Told in words, a page knows that its session has ended; a refused upgrade looks like a server that is down.
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

  /** A session that goes on, whose access token may have run out since: the socket brings nothing but word that something changed. */
  async #sessionOf(token: string): Promise<Session | undefined> {
    return this.#services.db
      .selectFrom("sessions")
      .innerJoin("users", "users.id", "sessions.userId")
      .where("sessions.accessHash", "=", hashToken(token))
      .where("sessions.refreshExpiresAt", ">", Date.now())
      .where("users.status", "=", "active")
      .select(["sessions.id", "sessions.userId"])
      .executeTakeFirst();
  }

  /** Ends the sockets of sessions that have ended: a person's, or of all. */
  async #recheck(io: Server, userId = ""): Promise<void> {
    try {
      const open = [...io.sockets.sockets.values()].filter(
        ({ data }) => !userId || (data as Session).userId === userId,
      );
      const ids = [...new Set(open.map(({ data }) => (data as Session).id))];
      const alive = new Set<string>();
      for (let at = 0; at < ids.length; at += 500) {
        const part = ids.slice(at, at + 500);
        const rows = await this.#services.db.selectFrom("sessions").where("id", "in", part).select("id").execute();
        for (const { id } of rows) alive.add(id);
      }
      for (const socket of open) if (!alive.has((socket.data as Session).id)) socket.disconnect(true);
    } catch (error) {
      this.#services.log.error({ err: error as Error }, "no se pudieron revisar las conexiones abiertas");
    }
  }
}

const sessions = new WeakMap<IncomingMessage, Session>();
