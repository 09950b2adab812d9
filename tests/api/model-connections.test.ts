import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { createGzip } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Account, type Api, openApi, textOf } from "../support/api.ts";
import { sqlite } from "../support/engines.ts";

let api: Api;
let person: Account;
let models: Server;
/** The requests that came over each connection. */
const connections = new Map<Socket, number>();
/** Closes a connection that brings a second request, as a server does whose patience with it has just ended. */
let closesKept = false;
/** Its answer in place of proper HTTP. */
let odd: string | undefined;
/** Compresses whatever it is asked for. */
let compresses = false;
const events = (content: string) =>
  `data: ${JSON.stringify({ id: "1", choices: [{ index: 0, delta: { content }, finish_reason: "stop" }] })}\n\n`;

beforeAll(async () => {
  models = createServer((request, response) => {
    const requests = (connections.get(request.socket) ?? 0) + 1;
    connections.set(request.socket, requests);
    if (closesKept && requests > 1) return request.socket.destroy();
    if (odd) return void request.socket.end(odd);
    if (compresses) {
      response.writeHead(200, { "Content-Type": "text/event-stream", "Content-Encoding": "gzip" });
      const packed = createGzip();
      packed.pipe(response);
      for (const content of ["Ho", "la."]) packed.write(events(content));
      return packed.end("data: [DONE]\n\n");
    }
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write(`${events("Hola.")}data: [DONE]\n\n`);
    // Some end their answer in a packet of its own.
    setTimeout(() => response.end(), 20);
  });
  await new Promise<void>((resolve) => models.listen(0, "127.0.0.1", resolve));
  api = await openApi(sqlite);
  const admin = await api.signUp("Admin");
  person = await api.signUp("Ana");
  const baseUrl = `http://127.0.0.1:${(models.address() as AddressInfo).port}`;
  const json = { name: "m", provider: "openai-compatible", externalId: "m", baseUrl, apiKey: "clave", isDefault: true };
  await api.call("POST", "/api/model", { token: admin.token, json });
});
afterAll(async () => {
  await api.close();
  models.close();
});

it("reuses one connection to a model's server for successive messages", async () => {
  for (let n = 0; n < 3; n++) expect(textOf(await api.converse(person.token, { content: "Hola" }))).toBe("Hola.");
  expect([...connections.values()]).toEqual([6]);
});

it("opens another connection when the server closes the kept one", async () => {
  closesKept = true;
  expect(textOf(await api.converse(person.token, { content: "Hola" }))).toBe("Hola.");
  expect(connections.size).toBeGreaterThan(1);
});

it("an answer that is compressed all the same is read", async () => {
  [closesKept, compresses] = [false, true];
  expect(textOf(await api.converse(person.token, { content: "Hola" }))).toBe("Hola.");
});

it.each([
  [
    "that is none",
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
    "No se ha podido conectar",
  ],
  ["that is not HTTP", "Hola\r\n", "No se ha podido conectar"],
  ["that is not modified", "HTTP/1.1 304 Not Modified\r\n\r\n", "(304)"],
])("an answer %s ends the reply with a sentence", async (_what, answer, sentence) => {
  odd = answer;
  const end = (await api.converse(person.token, { content: "Hola" })).find(({ type }) => type === "end");
  expect(end).toMatchObject({ status: "failed", error: expect.stringContaining(sentence) });
});

it("reads a whole answer beginning with a byte order mark", async () => {
  const body = `\uFEFF${events("Ho")}${events("la.")}data: [DONE]\n\n`;
  odd = `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  expect(textOf(await api.converse(person.token, { content: "Hola" }))).toBe("Hola.");
});
