import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { Browser, readable } from "../support/browser.ts";
import { streamed } from "../support/doors.ts";
import { startServer, type TestServer } from "../support/server.ts";

const owed: ServerResponse[] = [];
const upstream = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  // Titles wait for no turn.
  if (body.includes("Pon título")) response.end(streamed("Un título"));
  else owed.push(response);
});
let server: TestServer;
let admin: Browser;
let ana: Browser;
beforeAll(async () => {
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  server = await startServer();
  admin = new Browser(server.url);
  await admin.signUp("Admin");
  ana = new Browser(server.url);
  await ana.signUp("Ana");
  const baseUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
  const model = { name: "Uno", provider: "openai-compatible", externalId: "uno", baseUrl };
  await admin.change("/admin/model/crear", { ...model, isDefault: "true", atOnce: "1" });
});
afterAll(async () => {
  upstream.closeAllConnections();
  upstream.close();
  await server.stop();
});

const answer = async () => {
  const response = await vi.waitFor(() => owed.shift() ?? Promise.reject(new Error("nothing asked yet")));
  response.writeHead(200, { "Content-Type": "text/event-stream" }).end(streamed("Ya está"));
};

it("shows and updates the queue position of a waiting reply", async () => {
  await admin.say("Hola");
  await vi.waitFor(() => expect(owed).toHaveLength(1));
  const chat = await ana.say("Hola");
  const waiting = await ana.beginningOf(chat, "eres la");
  expect(readable(waiting)).toMatch(/Esperando turno: eres la\s+1\s*\.ª/);
  const [, id = ""] = /\/conversation\/reply\/([\w-]{36})/.exec(waiting) ?? [];
  const events = reading(await ana.fetch(`/conversation/stream/${id}`));
  const page = reading(await ana.fetch(chat));
  for (const one of [events, page]) await one.until("eres la");
  await answer();
  await answer();
  const told = (await events.whole())
    .split("\n\n")
    .flatMap((event) => /"n":"turn","html":"(.*)"/.exec(event)?.[1] ?? []);
  expect(told.map((html) => html.includes("eres la"))).toEqual([true, false]);
  expect(readable(await page.whole())).toMatch(/eres la\s+1\s*\.ª.*Ya está/);
  expect(readable(await ana.html(chat))).not.toContain("Esperando turno");
});

/** An answer that grows, read as far as a text, and then to its end. */
function reading(answer: Response) {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const more = async () => {
    const { value = "", done = true } = (await reader?.read()) ?? {};
    text += value;
    return !done;
  };
  return {
    async until(said: string): Promise<void> {
      while (!text.includes(said)) if (!(await more())) throw new Error(`it has ended: ${text}`);
    },
    async whole(): Promise<string> {
      while (await more());
      return text;
    },
  };
}
