import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect as connectTcp } from "node:net";
import { hostname } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import type { EventsDestination } from "../process/events-url.server.ts";
import type { SecurityEvent } from "./security-event.server.ts";

// RFC 5424, 6.2.1: the facility of audits, and how grave an event is.
const audit = 13;
const warning = 4;
const informational = 6;
// RFC 5424, 7.2.2: the enterprise number that documentation may use; Tertulia has no number of its own.
const structure = "audit@32473";
// In ms.
const patience = 10_000;
const settles = 1_000;

type Syslog = Extract<EventsDestination, { kind: "syslog" }>;

/** Sends events to a collector of syslog. Rejects if it can't be reached or closes at once; syslog itself acknowledges nothing. */
export async function sendSyslog(to: Syslog, events: SecurityEvent[]): Promise<void> {
  const messages = events.map(messageOf);
  if (to.transport === "udp") return sendDatagrams(to, messages);
  const { host, port } = to;
  const socket = to.transport === "tls" ? connectTls({ host, port, servername: host }) : connectTcp({ host, port });
  socket.setTimeout(patience, () => socket.destroy(new Error(`${host}:${port} no contesta`)));
  try {
    await once(socket, to.transport === "tls" ? "secureConnect" : "connect");
    // Octet counting (RFC 6587, 3.4.1; RFC 5425, 4.3): texts may have line breaks.
    const framed = messages.map((message) => `${Buffer.byteLength(message)} ${message}`).join("");
    socket.resume();
    socket.write(framed);
    // Messages are not acknowledged (RFC 6587): a load balancer without a collector closes at once, a collector keeps listening.
    const closed = once(socket, "close").then(() => Promise.reject(new Error(`${host}:${port} ha cerrado sin leer`)));
    await Promise.race([closed, wait(settles)]);
    closed.catch(() => {});
    await new Promise<void>((resolve, reject) => {
      socket.once("error", reject);
      socket.end(() => resolve());
    });
  } finally {
    socket.destroy();
  }
}

async function sendDatagrams({ host, port }: Syslog, messages: string[]): Promise<void> {
  const socket = createSocket(host.includes(":") ? "udp6" : "udp4");
  try {
    for (const message of messages) {
      await new Promise<void>((resolve, reject) => {
        socket.send(message, port, host, (error) => (error ? reject(error) : resolve()));
      });
    }
  } finally {
    socket.close();
  }
}

/** One event as a message of syslog (RFC 5424, 6). */
export function messageOf({ id, at, action, resource, resourceId, actorId, actor, ip }: SecurityEvent): string {
  const severity = /failed|locked|denied/.test(action) ? warning : informational;
  const named = Object.entries({ id, action, resource, resourceId, actorId, actor, ip })
    .filter(([, value]) => value)
    .map(([name, value]) => ` ${name}="${String(value).replace(/["\\\]]/g, "\\$&")}"`);
  const said = [action, resource, resourceId].filter(Boolean).join(" ");
  const host = hostname().replace(/[^!-~]/g, "") || "-";
  return `<${audit * 8 + severity}>1 ${at} ${host} tertulia ${process.pid} ${action} [${structure}${named.join("")}] ${said}`;
}
