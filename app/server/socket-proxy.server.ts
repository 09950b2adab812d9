import { type IncomingMessage, request as overHttp } from "node:http";
import { request as overHttps } from "node:https";
import type { Duplex } from "node:stream";

// Sent for visitors. It matches no session, so the API accepts the upgrade and then answers `unauthorized`. A refused
// upgrade could not tell the browser why.
const nobody = "-";
const patience = 20_000;

/**
 * Forwards an upgrade to the API on another machine, with `token` as bearer token, and pipes the two connections together.
 * Without a token (a request from another site) the upgrade is refused with 401.
 */
export function proxySocket(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  base: string,
  token: string | undefined,
): void {
  const refuse = (status: number) =>
    socket.end(`HTTP/1.1 ${status} \r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  if (token === undefined) {
    refuse(401);
    return;
  }
  const { cookie: _cookie, origin: _origin, ...headers } = request.headers;
  const target = new URL(base + request.url);
  const open = target.protocol === "https:" ? overHttps : overHttp;
  const out = open(target, { headers: { ...headers, host: target.host, authorization: `Bearer ${token || nobody}` } });
  // Stop waiting when the browser leaves or the API does not answer.
  socket.on("close", () => out.destroy());
  out.setTimeout(patience, () => out.destroy());
  out.on("upgrade", (answer, inner, first) => {
    if (socket.destroyed) return inner.destroy();
    inner.setTimeout(0);
    const lines = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join("")}\r\n`);
    if (first.length > 0) socket.write(first);
    if (head.length > 0) inner.write(head);
    const end = () => {
      inner.destroy();
      socket.destroy();
    };
    for (const side of [inner, socket]) side.on("error", end).on("close", end);
    inner.pipe(socket).pipe(inner);
  });
  out.on("response", (answer) => {
    answer.resume();
    refuse(answer.statusCode ?? 502);
  });
  out.on("error", () => refuse(502));
  out.end();
}
