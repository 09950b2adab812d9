import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { LLMock } from "@copilotkit/aimock";
import { io } from "socket.io-client";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { createClient, type TokenStore } from "../../app/web/api-client.server.ts";
import { Browser } from "../support/browser.ts";
import { startModelServer } from "../support/model-server.ts";
import { password } from "../support/password.ts";
import { startServer, type TestServer } from "../support/server.ts";

let models: LLMock;
let server: TestServer;
let admin: string;
beforeAll(async () => {
  models = await startModelServer();
  server = await startServer({ OPENAI_BASE_URL: `${models.url}/v1`, OPENAI_API_KEY: "clave" });
  admin = await signIn(await new Browser(server.url).signUp("Admin"));
  await vi.waitFor(
    async () => expect(await (await call("GET", "/api/model", admin)).text()).toContain("gpt-4o"),
    10_000,
  );
});
afterAll(async () => {
  await server.stop();
  await models.stop();
});

const call = (method: string, path: string, token: string, json?: object) =>
  fetch(`${server.url}/v1${path}`, {
    method,
    headers: { Authorization: `Bearer ${token}`, ...(json && { "Content-Type": "application/json" }) },
    ...(json && { body: JSON.stringify(json) }),
  });
const signIn = async (email: string) => (await call("POST", "/auth/signin", "", { email, password })).text();

/** Looks into or changes the database of the running server. */
function inDatabase<Row>(sql: string, ...values: (string | number)[]): Row[] {
  const db = new DatabaseSync(join(server.dataDir, "tertulia.db"), { timeout: 5000 });
  try {
    return db.prepare(sql).all(...values) as Row[];
  } finally {
    db.close();
  }
}

/** Somebody with everything that can be open: a page's session, a program's, a key, a stream, a socket. */
async function everythingOpen() {
  const browser = new Browser(server.url);
  const email = await browser.signUp();
  const token = await signIn(email);
  const { user } = (await (await call("GET", "/auth/session", token)).json()) as { user: { id: string } };
  const { token: key } = (await (await call("POST", "/api/key", token, { name: "uno", scope: "write" })).json()) as {
    token: string;
  };
  const slow = { content: "Una respuesta lenta" };
  const stream = await call("POST", "/api/intelligence/conversation", token, slow);
  const socket = io(server.url, {
    path: "/engine.io",
    transports: ["websocket"],
    extraHeaders: { Authorization: `Bearer ${token}` },
    reconnection: false,
    forceNew: true,
  });
  onTestFinished(() => void socket.disconnect());
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("connect_error", reject));
  const socketEnded = new Promise<string>((resolve) => socket.once("disconnect", resolve));
  return { browser, email, token, id: user.id, key, stream, socketEnded };
}

/** Reads a stream to its end. `ended`: whether the end of the reply came in it. */
async function readOn(stream: Response) {
  const text = await stream.text();
  return { ended: text.includes('"type":"end"') };
}

describe("a session", () => {
  it("loses all access when deactivated (guards: active, whileSignedIn, Sockets)", async () => {
    const { browser, token, id, key, stream, socketEnded } = await everythingOpen();
    const changed = await call("PATCH", `/api/user/${id}`, admin, { status: "inactive" });
    expect(changed.status).toBe(200);
    // Its replies are stopped, so that a stream may see the end of one.
    await readOn(stream);
    const replies = inDatabase<{ status: string }>(
      "select status from messages where userId = ? and role = 'assistant'",
      id,
    );
    expect(replies.map(({ status }) => status)).toEqual(["stopped"]);
    await socketEnded;
    for (const one of [token, key]) expect((await call("GET", "/api/chat", one)).status).toBe(401);
    expect((await browser.fetch("/conversation/chat")).status).toBe(302);
  });

  it("ends only its own connections on sign-out (guard: whileSignedIn)", async () => {
    const { browser, token, stream, socketEnded } = await everythingOpen();
    expect((await call("POST", "/auth/signout", token)).status).toBe(204);
    expect(await readOn(stream)).toEqual({ ended: false });
    await socketEnded;
    expect((await browser.fetch("/user")).status).toBe(200);
  });

  it("ends others when changing its password (guard: users PATCH)", async () => {
    const { browser, token, key, email } = await everythingOpen();
    const other = await signIn(email);
    const { user } = (await (await call("GET", "/auth/session", token)).json()) as { user: { id: string } };
    const body = { password: "otra frase larga y rara", currentPassword: password };
    expect((await call("PATCH", `/api/user/${user.id}`, token, body)).status).toBe(200);
    expect((await call("GET", "/api/chat", token)).status).toBe(200);
    for (const one of [other, key]) expect((await call("GET", "/api/chat", one)).status).toBe(401);
    expect((await browser.fetch("/user")).headers.get("Location")).toContain("/auth/signin");
  });

  it("renews an expired token once for twenty requests (guard: rotate)", async () => {
    const browser = new Browser(server.url);
    await browser.signUp();
    const [{ id = "", generation = 0 } = {}] = inDatabase<{ id: string; generation: number }>(
      "select id, generation from sessions order by id desc limit 1",
    );
    inDatabase("update sessions set accessExpiresAt = 1 where id = ?", id);
    const cookies = new Map(browser.cookies);
    const pages = await Promise.all(
      Array.from({ length: 20 }, (_, n) => {
        const tab = Object.assign(new Browser(server.url), { cookies: new Map(cookies) });
        return tab.fetch(n % 2 ? "/user" : "/user.data");
      }),
    );
    expect(pages.map(({ status }) => status)).toEqual(Array(20).fill(200));
    const [after] = inDatabase<{ generation: number }>("select generation from sessions where id = ?", id);
    expect(after?.generation).toBe(generation + 1);
  });

  it("survives a slow request that overlaps a renewal (guard: catchUp)", async () => {
    const email = await new Browser(server.url).signUp();
    const answer = await call("POST", "/auth/signin", "", { email, password });
    const [, refresh = ""] = /refresh=([^;]+)/.exec(answer.headers.getSetCookie().join()) ?? [];
    const tokens = { access: await answer.text(), refresh: decodeURIComponent(refresh) };
    const store = (): TokenStore => ({
      ...tokens,
      keep(fresh) {
        Object.assign(this, fresh);
      },
      forget() {
        Object.assign(this, { access: undefined, refresh: undefined });
      },
    });
    const send = (request: Request) => {
      const { pathname, search } = new URL(request.url);
      return fetch(`${server.url}/v1${pathname}${search}`, request);
    };
    const open = (tokens = store()) => createClient(send, tokens);
    const slow = open().client;
    const [{ id = "" } = {}] = inDatabase<{ id: string }>("select id from sessions order by id desc limit 1");
    inDatabase("update sessions set accessExpiresAt = 1 where id = ?", id);
    const other = open();
    expect((await other.client.api.usage.$get({ query: {} })).status).toBe(200);
    // Its browser does not know yet what it has rotated, and asks for another page meanwhile.
    inDatabase("update sessions set rotatedAt = rotatedAt - 60000 where id = ?", id);
    expect((await open().client.api.usage.$get({ query: {} })).status).toBe(200);
    other.answered();
    const answeredAt = Date.now();
    // The upload has taken ten minutes.
    inDatabase("update sessions set rotatedAt = rotatedAt - 600000 where id = ?", id);
    expect((await slow.api.usage.$get({ query: {} })).status).toBe(200);
    // A copy of the old cookie that comes only now ends the session, as ever.
    await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(answeredAt));
    expect((await open().client.api.usage.$get({ query: {} })).status).toBe(401);
    expect(inDatabase("select id from sessions where id = ?", id)).toEqual([]);
  });
});

describe("signing in", () => {
  it("is bounded for an address, whatever the account (guard: signinAddress)", async () => {
    const behind = await startServer({ TRUST_PROXY: "1" });
    onTestFinished(() => behind.stop());
    const attempt = (from: string) =>
      fetch(`${behind.url}/v1/auth/signin`, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Forwarded-For": from },
        body: JSON.stringify({ email: `${crypto.randomUUID()}@ejemplo.es`, password: "x" }),
      });
    // One customer's many addresses of IPv6 are one.
    const statuses = await Promise.all(
      Array.from({ length: 101 }, (_, n) => attempt(`2001:db8:1:2::${n.toString(16)}`)),
    );
    expect(statuses.filter(({ status }) => status === 429)).toHaveLength(1);
    expect((await attempt("2001:db8:1:3::1")).status).toBe(401);
  });
});
