import { readdirSync } from "node:fs";
import { io } from "socket.io-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Browser, readable } from "../support/browser.ts";
import { password } from "../support/password.ts";
import { startServer, type TestServer } from "../support/server.ts";

let api: TestServer;
let front: TestServer;
beforeAll(async () => {
  api = await startServer({ TRUST_PROXY: "1" });
  front = await startServer({ API_BASE_URL: `${api.url}/v1`, TRUST_PROXY: "1" });
});
afterAll(async () => {
  await front.stop();
  await api.stop();
});

describe("pages whose API is on another machine", () => {
  let ana: Browser;
  let chat: string;
  it("work without a database of their own", async () => {
    ana = new Browser(front.url);
    await ana.signUp("Ana");
    chat = await ana.say("Hola");
    expect(readable(await ana.html(chat))).toContain("asistente local");
    const [file = ""] = await ana.upload([new File(["La reforma empieza en mayo"], "apuntes.txt")]);
    expect(await (await ana.fetch(`/user/file/${file}/contenido`)).text()).toBe("La reforma empieza en mayo");
    expect(readdirSync(front.dataDir)).toEqual(["secret"]);
    expect((await fetch(`${front.url}/ready`)).status).toBe(200);
    expect((await fetch(`${front.url}/v1/api/chat`)).status).toBe(404);
  });

  it("report the visitor's address instead of their own", async () => {
    const far = new Browser(front.url);
    const fields = { name: "Lejana", email: "lejana@ejemplo.es", password };
    await far.submit("/auth/signup", "/auth/signup", fields, { "X-Forwarded-For": "203.0.113.7" });
    expect(readable(await far.html("/user/seguridad"))).toContain("203.0.113.7");
  });

  it("relay a reply as it is written", async () => {
    const { headers } = await ana.submit(chat, chat, { content: "¿Y qué más?" });
    const reader = (await ana.fetch(headers.get("Location") ?? "")).body?.getReader();
    let pieces = 0;
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) pieces++;
    expect(pieces).toBeGreaterThan(5);
  });

  it("hand realtime on", async () => {
    const Cookie = [...ana.cookies].map((pair) => pair.join("=")).join("; ");
    const socket = io(front.url, {
      path: "/engine.io",
      transports: ["websocket"],
      extraHeaders: { Cookie, Origin: front.url },
      reconnection: false,
    });
    const told: string[] = [];
    socket.on("changed", (what: string) => told.push(what));
    await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("connect_error", reject));
    await ana.submit("/conversation/project/crear", "/conversation/project/crear", { name: "Tesis" });
    await expect.poll(() => told).toContain("project");
    socket.disconnect();
  });

  it("report a missing API, keep typed text and recover", async () => {
    const form = await ana.html(chat);
    await api.end("SIGKILL");
    const sent = await ana.post(chat, { ...hidden(form), content: "Escrito sin servidor" });
    const page = readable(await sent.text());
    expect(sent.status).toBe(503);
    expect(page).toContain("El servidor no contesta ahora mismo.");
    expect(page).toContain("Escrito sin servidor");
    const port = new URL(api.url).port;
    // Asked for while there is no API: the answer waits for it.
    const asked = ana.html(chat);
    api = await startServer({ TRUST_PROXY: "1", PORT: port, DATA_DIR: api.dataDir });
    expect(readable(await asked)).toContain("Hola");
    expect(await ana.say("Otra vez aquí", chat)).toContain(chat);
  });
});

function hidden(html: string): Record<string, string> {
  const token = /name="formToken" value="([^"]+)"/.exec(html)?.[1] ?? "";
  return { formToken: token, key: crypto.randomUUID() };
}
