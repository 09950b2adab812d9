import { networkInterfaces } from "node:os";
import { expect, it } from "vitest";
import { Browser } from "../support/browser.ts";
import { startServer } from "../support/server.ts";

it("logs each request without secrets, whatever the log level", async () => {
  const server = await startServer({ ACCESS_LOG: "on", LOG_LEVEL: "silent" });
  try {
    const ana = new Browser(server.url);
    await ana.signUp();
    await ana.html("/user?clave=secreta");
    await ana.html("/compartido/Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6");
    await expect.poll(() => server.printed()).toContain("/compartido/");
    const lines = server
      .printed()
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const asked = (path: string) => lines.find((line) => line.path === path);
    expect(asked("/user")).toMatchObject({
      ...{ level: "info", method: "GET", status: 200, ip: "127.0.0.1" },
      ...{ ms: expect.any(Number), personId: expect.stringMatching(/^[\da-f-]{36}$/), requestId: expect.any(String) },
    });
    expect(lines.find(({ method }) => method === "POST")).toMatchObject({ path: "/auth/signup", status: 302 });
    expect(asked("/auth/signup")).not.toHaveProperty("personId");
    expect(asked("/compartido/…")).toBeDefined();
    expect(server.printed()).not.toContain("secreta");
  } finally {
    await server.stop();
  }
});

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ family }) => family === "IPv6"));

it.runIf(hasIpv6)("names people by their IPv4 address where the server listens on IPv6 too", async () => {
  const server = await startServer({ HOST: "", ACCESS_LOG: "on", LOG_LEVEL: "silent" });
  try {
    const { port } = new URL(server.url);
    for (const host of ["[::1]", "127.0.0.1"]) await (await fetch(`http://${host}:${port}/auth/signin`)).text();
    await expect.poll(() => server.printed().match(/"ip":"[^"]+"/g)).toEqual(['"ip":"::1"', '"ip":"127.0.0.1"']);
  } finally {
    await server.stop();
  }
});
