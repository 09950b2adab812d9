import { type IncomingMessage, request as overHttp } from "node:http";
import { request as overHttps } from "node:https";
import type { Duplex } from "node:stream";

/** Hands an upgrade on to the API of another machine, as the person of `token`, and joins the two connections. */
export function tunnel(request: IncomingMessage, socket: Duplex, head: Buffer, base: string, token: string): void {
  const { cookie: _cookie, origin: _origin, ...headers } = request.headers;
  const target = new URL(base + request.url);
  const open = target.protocol === "https:" ? overHttps : overHttp;
  const out = open(target, { headers: { ...headers, host: target.host, authorization: `Bearer ${token}` } });
  const refuse = (status: number) =>
    socket.end(`HTTP/1.1 ${status} \r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  out.on("upgrade", (answer, inner, first) => {
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
