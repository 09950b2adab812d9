import { io, type Socket } from "socket.io-client";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { Browser } from "../support/browser.ts";
import { password } from "../support/password.ts";
import { startServer, type TestServer } from "../support/server.ts";

let server: TestServer;
let ana: Browser;
let berta: Browser;
let anaToken: string;
beforeAll(async () => {
  server = await startServer();
  ana = new Browser(server.url);
  berta = new Browser(server.url);
  const email = await ana.signUp("Ana");
  await berta.signUp("Berta");
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch(`${server.url}/v1/auth/signin`, {
    method: "POST",
    headers,
    body: JSON.stringify({ email, password }),
  });
  anaToken = await answer.text();
});
afterAll(() => server.stop());

const cookiesOf = ({ cookies }: Browser) => [...cookies].map((pair) => pair.join("=")).join("; ");

/** A socket as a browser opens it; what it is told is kept. */
function connect(extraHeaders: Record<string, string>, transports = ["websocket"]): Socket & { told: string[] } {
  const socket = io(server.url, { path: "/engine.io", transports, extraHeaders, reconnection: false, forceNew: true });
  const told: string[] = [];
  socket.on("changed", (what: string) => told.push(what));
  onTestFinished(() => void socket.disconnect());
  return Object.assign(socket, { told });
}

const pageOf = (browser: Browser) => connect({ Cookie: cookiesOf(browser), Origin: server.url });
const opened = (socket: Socket) =>
  new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("connect_error", reject));
const refused = (socket: Socket) =>
  new Promise<string>((resolve) => {
    socket.once("connect", () => resolve("connected"));
    socket.once("connect_error", () => resolve("refused"));
  });

describe("sockets", () => {
  it("tell a person what has changed, and nobody else", async () => {
    const [mine, other, program] = [pageOf(ana), pageOf(berta), connect({ Authorization: `Bearer ${anaToken}` })];
    await Promise.all([mine, other, program].map(opened));
    await ana.say("Hola");
    await expect.poll(() => mine.told).toContain("message");
    await expect.poll(() => program.told).toContain("message");
    await ana.submit("/conversation/project/crear", "/conversation/project/crear", { name: "Tesis" });
    await expect.poll(() => mine.told).toContain("project");
    expect(other.told).toEqual([]);
  });

  it("name the kind of thing that each call changes", async () => {
    const mine = pageOf(ana);
    await opened(mine);
    const headers = { Authorization: `Bearer ${anaToken}`, "Content-Type": "application/json" };
    const call = async (method: string, path: string, body: object) => {
      const answer = await fetch(`${server.url}/v1/api${path}`, { method, headers, body: JSON.stringify(body) });
      return (await answer.json().catch(() => ({}))) as { id: string };
    };
    const chat = await call("POST", "/chat", { title: "Viaje" });
    await expect.poll(() => mine.told.splice(0)).toEqual(["chat"]);
    await call("POST", "/message", { chatId: chat.id, content: "Hola" });
    await expect.poll(() => mine.told.splice(0)).toContain("message");
    await call("PUT", `/chat/${chat.id}/share`, {});
    const project = await call("POST", "/project", { name: "Tesis" });
    // Neither what is only being typed nor what is refused.
    await call("PUT", `/project/${project.id}/draft`, { draft: { content: "A medias", modelId: null, fileIds: [] } });
    await call("POST", "/project", { name: "" });
    await call("POST", "/key", { name: "Guion", scope: "read" });
    await expect.poll(() => mine.told.filter((what) => what !== "message")).toEqual(["chat", "project", "key"]);
  });

  it("say nothing of what is only being typed", async () => {
    // Somebody of whom nothing else is told that comes late.
    const dora = new Browser(server.url);
    await dora.signUp("Dora");
    const mine = pageOf(dora);
    await opened(mine);
    await dora.submit("/conversation/chat", "/conversation/draft", { content: "A medio escribir" });
    await dora.submit("/conversation/project/crear", "/conversation/project/crear", { name: "Tesis" });
    await expect.poll(() => mine.told).toEqual(["project"]);
  });

  it.each([
    ["without a session", () => connect({ Origin: server.url })],
    ["with a forged cookie", () => connect({ Cookie: "tertulia=nada.nada", Origin: server.url })],
    ["with a forged token", () => connect({ Authorization: "Bearer nada" })],
    ["from another site", () => connect({ Cookie: cookiesOf(ana), Origin: "https://malo.example" })],
    ["with a cookie and no site", () => connect({ Cookie: cookiesOf(ana) })],
    ["by polling", () => connect({ Cookie: cookiesOf(ana), Origin: server.url }, ["polling"])],
  ])("are refused %s", async (_what, open) => {
    expect(await refused(open())).toBe("refused");
  });

  it("end with their session", async () => {
    const again = new Browser(server.url);
    await again.signUp("Carla");
    const socket = pageOf(again);
    await opened(socket);
    const ended = new Promise((resolve) => socket.once("disconnect", resolve));
    await again.submit("/user", "/auth/signout", {});
    expect(await ended).toBe("io server disconnect");
    expect(await refused(pageOf(again))).toBe("refused");
  });

  it("ignore unknown events and disconnect clients sending large ones", async () => {
    const socket = pageOf(ana);
    await opened(socket);
    for (const event of ["changed", "join", "__proto__", "sessions"]) socket.emit(event, { userId: "x" }, ["y"]);
    const berta2 = pageOf(berta);
    await opened(berta2);
    expect(socket.connected).toBe(true);
    const ended = new Promise((resolve) => socket.once("disconnect", resolve));
    socket.emit("changed", "x".repeat(1_000_000));
    expect(await ended).toMatch(/transport/);
    expect(berta2.told).toEqual([]);
    expect((await fetch(`${server.url}/ready`)).status).toBe(200);
  });
});
