import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { Browser } from "../support/browser.ts";
import { Raw } from "../support/raw.ts";
import { startServer, type TestServer } from "../support/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  await new Browser(server.url).signUp("Admin");
});
afterAll(() => server.stop());

// In ms: six times what strangers have for a body or headers, and a tenth of what somebody who is signed in has.
const slow = 60_000;
const chunk = (size: number) => `${size.toString(16)}\r\n${"x".repeat(size)}\r\n`;
const head = (path: string, type = "application/json") =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`;
const LONG_BODY = chunk(1_000_000).repeat(3);

describe("sixty strangers who never finish what they send", () => {
  it.each([
    ["/v1/chat/completions", 401],
    ["/v1/api/file/uploads", 401],
  ])("to %s are refused at once (guards: boundBody, signedIn)", async (path, status) => {
    const open = Array.from({ length: 60 }, () => new Raw(server.url, head(path) + LONG_BODY));
    onTestFinished(() => {
      for (const one of open) one.end();
    });
    for (const one of open) expect(await one.status()).toBe(status);
    // Cut, long before a client may take as long as it likes; what they cost in memory: `npm run bench -- held`.
    for (const one of open) expect(await one.closed).toBeLessThan(slow);
  });

  it.each([
    ["/v1/auth/signin", "application/json", 408],
    ["/v1/api/email/contact", "application/json", 408],
    ["/auth/signin", "application/x-www-form-urlencoded", 400],
  ])("to %s hold at most twenty bodies (guards: boundedBody, ofStrangers)", async (path, type, late) => {
    const open = Array.from({ length: 60 }, () => new Raw(server.url, head(path, type) + chunk(200_000)));
    onTestFinished(() => {
      for (const one of open) one.end();
    });
    const statuses = await Promise.all(open.map((one) => one.status()));
    // On a busy machine some of the forty come late enough to take the place of an older one.
    const held = statuses.filter((status) => status === late).length;
    expect(held).toBeGreaterThanOrEqual(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(60 - held);
    for (const one of open) expect(await one.closed).toBeLessThan(slow);
  });

  it("and whose headers never end are cut (guard: headersTimeout)", async () => {
    const endless = new Raw(server.url, "GET / HTTP/1.1\r\nHost: x\r\nX-A: ");
    expect(await endless.closed).toBeLessThan(slow);
  });
});

describe("a request that no browser sends", () => {
  const get = (target: string, host = "Host: x\r\n", method = "GET") =>
    new Raw(server.url, `${method} ${target} HTTP/1.1\r\n${host}Connection: close\r\n\r\n`);

  it.each([
    ["GET", "/", "Host: a b\r\n", 400],
    ["GET", "/", "Host: [::1\r\n", 400],
    ["GET", "/", "Host: ana:clave@x\r\n", 400],
    ["GET", "/%E0%A4%A/compartido/secreto", undefined, 400],
    ["GET", "/auth/reset/secreto%", undefined, 400],
    ["GET", "nada", undefined, 400],
    ["OPTIONS", "*", undefined, 405],
    ["TRACE", "/", undefined, 501],
    ["TRACE", "/v1/api/chat", undefined, 501],
    ["CONNECT", "x:443", undefined, undefined],
  ])("%s %s with %j is refused without a server error", async (method, target, host, status) => {
    const one = get(target, host, method);
    await one.closed;
    if (status) expect(Number(one.received.slice(9, 12))).toBe(status);
    expect(one.received).not.toMatch(/^HTTP\/1\.1 5(?!01)/);
    expect(server.printed()).not.toContain("secreto");
    expect(server.printed()).not.toContain('"level":"error"');
  });

  it("in absolute form is answered like any other", async () => {
    const one = get("http://x/servicios");
    await one.closed;
    expect(one.received).toMatch(/^HTTP\/1\.1 200/);
    expect(one.received).toContain("Servicios");
  });

  it("with an unsupported method leaves no error in the log", async () => {
    const answer = await fetch(`${server.url}/robots.txt`, { method: "DELETE", headers: { Origin: server.url } });
    expect(answer.status).toBeLessThan(500);
    expect(server.printed()).not.toContain('"err":{}');
  });
});
