import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer, type TestServer } from "../support/server.ts";

/** A browser behind the proxy; `email`: what that says of it. */
function visitor(server: () => TestServer) {
  let cookies = "";
  return async (
    path: string,
    { email = "", ...headers }: { email?: string; [name: string]: string | undefined } = {},
  ) => {
    const answer = await fetch(`${server().url}${path}`, {
      redirect: "manual",
      headers: {
        Accept: "text/html",
        ...(headers as Record<string, string>),
        Cookie: cookies,
        ...(email && { "Remote-Email": Buffer.from(email).toString("latin1") }),
      },
    });
    const kept = new Map(cookies.split("; ").map((one) => [one.split("=")[0] ?? "", one]));
    for (const set of answer.headers.getSetCookie()) {
      const [pair = ""] = set.split(";");
      kept.set(pair.split("=")[0] ?? "", pair);
    }
    cookies = [...kept.values()].filter(Boolean).join("; ");
    return { status: answer.status, location: answer.headers.get("Location"), text: await answer.text(), cookies };
  };
}

describe("a proxy that says who a person is", () => {
  let server: TestServer;
  beforeAll(async () => {
    const env = { AUTH_HEADER: "Remote-Email", AUTH_PROXY: "10.1.2.3, 127.0.0.0/8", PASSWORD_SIGNIN: "off" };
    server = await startServer(env);
  });
  afterAll(() => server.stop());

  it("signs the person in to one account at each visit", async () => {
    const visit = visitor(() => server);
    const page = await visit("/user", { email: "Ana.Lopez@ejemplo.es" });
    expect(page.status).toBe(200);
    expect(page.text).toContain("Ana.Lopez@ejemplo.es");
    expect((await visit("/user", { email: "ana.lopez@ejemplo.es" })).text).toContain("Ana.Lopez@ejemplo.es");
    // The first account administers.
    expect((await visit("/admin", { email: "ana.lopez@ejemplo.es" })).status).toBe(200);
    const other = visitor(() => server);
    expect((await other("/admin", { email: "berta@ejemplo.es" })).status).toBe(404);
    expect((await other("/user", { email: "ana.lopez@ejemplo.es" })).text).toContain("Ana.Lopez@ejemplo.es");
  });

  it("ends their session when it names nobody any more", async () => {
    const visit = visitor(() => server);
    expect((await visit("/user", { email: "carla@ejemplo.es" })).status).toBe(200);
    const page = await visit("/user");
    expect([page.status, page.location]).toEqual([302, "/auth/signin?volver=%2Fuser"]);
  });

  it("ends the session when the address is invalid or another's", async () => {
    const visit = visitor(() => server);
    await visit("/user", { email: "carla@ejemplo.es" });
    expect((await visit("/user", { email: "carla" })).status).toBe(302);
    await visit("/user", { email: "carla@ejemplo.es" });
    expect((await visit("/user", { email: "josé@ejemplo.es" })).text).toContain("josé@ejemplo.es");
  });

  it("opens no session for what is no page", async () => {
    const answer = await visitor(() => server)("/robots.txt", { email: "carla@ejemplo.es", Accept: "*/*" });
    expect(answer.cookies).not.toContain("tertulia=");
  });

  it("lets nobody in by what is no address", async () => {
    for (const email of ["ana", "ana@ejemplo.es, berta@ejemplo.es", "a b@c.es", `${"x".repeat(300)}@ejemplo.es`]) {
      expect((await visitor(() => server)("/user", { email })).status).toBe(302);
    }
  });
});

describe("anybody else who sends its header", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ AUTH_HEADER: "Remote-Email", AUTH_PROXY: "10.1.2.3", TRUST_PROXY: "1" });
  });
  afterAll(() => server.stop());

  it("is treated as a visitor, even with forged proxy addresses", async () => {
    for (const headers of [{}, { "X-Forwarded-For": "10.1.2.3" }, { Forwarded: "for=10.1.2.3" }]) {
      const page = await visitor(() => server)("/user", { email: "ana@ejemplo.es", ...headers });
      expect(page.status).toBe(302);
    }
  });
});

describe("an account that somebody had made with another's address", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ AUTH_HEADER: "Remote-Email", AUTH_PROXY: "127.0.0.1" });
  });
  afterAll(() => server.stop());

  it("locks out its creator once the proxy names its owner", async () => {
    await visitor(() => server)("/user", { email: "admin@ejemplo.es" });
    const json = { name: "Otra", email: "carla@ejemplo.es", password: "una frase larga y rara" };
    const call = (path: string, init: RequestInit = {}) => fetch(`${server.url}/v1${path}`, init);
    const sent = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(json) };
    const token = await (await call("/auth/signup", sent)).text();
    const headers = { Authorization: `Bearer ${token}` };
    expect((await call("/auth/session", { headers })).status).toBe(200);
    expect((await visitor(() => server)("/user", { email: "carla@ejemplo.es" })).status).toBe(200);
    expect((await call("/auth/session", { headers })).status).toBe(401);
    const again = await call("/auth/signin", {
      ...sent,
      body: JSON.stringify({ email: json.email, password: json.password }),
    });
    expect(again.status).toBe(401);
  });
});
