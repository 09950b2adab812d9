import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type Api, openApi, refreshOf } from "../support/api.ts";
import { ruleEngines, sqlite } from "../support/engines.ts";
import { password } from "../support/password.ts";

const engines = await ruleEngines();

describe.each(engines)("accounts on $name", (engine) => {
  let api: Api;
  beforeAll(async () => {
    api = await openApi(engine);
  });
  afterAll(() => api.close());

  const refresh = (token: string) => api.call("POST", "/auth/refresh", { headers: { Cookie: `refresh=${token}` } });
  const session = (token: string) => api.call("GET", "/auth/session", { token });

  it("makes the first account the admin, and no other", async () => {
    const first = await api.signUp("Primera");
    const second = await api.signUp("Segunda");
    expect((await session(first.token)).body).toMatchObject({ user: { role: "admin", status: "active" } });
    expect((await session(second.token)).body).toMatchObject({
      user: { role: "user", name: "Segunda" },
      subscription: { plan: "gratis" },
      usage: { messagesToday: 0 },
    });
  });

  it("never answers a password", async () => {
    const { token } = await api.signUp();
    const { text } = await session(token);
    expect(text.replace('"hasPassword":true', "")).not.toMatch(/password|argon2/i);
  });

  it("refuses a taken e-mail, whatever its case, and says so", async () => {
    const { email } = await api.signUp();
    const answer = await api.call("POST", "/auth/signup", {
      json: { name: "Otra", email: email.toUpperCase(), password },
    });
    expect(answer.status).toBe(409);
    expect(answer.headers.get("Content-Type")).toBe("application/problem+json");
    expect(answer.body).toMatchObject({
      status: 409,
      errors: { email: "El usuario ya se encuentra registrado en la plataforma" },
      requestId: expect.any(String),
    });
  });

  it.each([
    [{ name: "", email: "a@b.es", password }, "name"],
    [{ name: "x".repeat(81), email: "a@b.es", password }, "name"],
    [{ name: "Ana", email: "ana@", password }, "email"],
    [{ name: "Ana", email: "a@b.es", password: "corta" }, "password"],
    [{ name: "Ana", email: "a@b.es", password: "x".repeat(129) }, "password"],
    [{ name: "Ana", email: "a@b.es", password: "password123" }, "password"],
    [{ name: ["Ana"], email: 3, password: null }, "name"],
  ])("says in Spanish which field of %j is wrong", async (json, field) => {
    const answer = await api.call("POST", "/auth/signup", { json });
    expect(answer.status).toBe(422);
    const { errors } = answer.body as { errors: Record<string, string> };
    expect(errors[field]).toMatch(/^[A-ZÁ-Ú].*\.$/);
    expect(Object.values(errors).join(" ")).not.toMatch(/invalid|expected|string|required/i);
  });

  it("signs in whatever the e-mail's case, without revealing unknown addresses", async () => {
    const { email } = await api.signUp();
    const signIn = (json: unknown) => api.call("POST", "/auth/signin", { json });
    expect((await signIn({ email: email.toUpperCase(), password })).status).toBe(200);
    const wrong = await signIn({ email, password: "otra cosa" });
    const unknown = await signIn({ email: "nadie@ejemplo.es", password });
    expect(wrong.status).toBe(401);
    expect({ ...(wrong.body as object), requestId: "" }).toEqual({ ...(unknown.body as object), requestId: "" });
  });

  it("limits sign-in attempts to ten and says when to retry", async () => {
    const json = { email: "victima@ejemplo.es", password: "x" };
    for (let left = 9; left >= 0; left--) {
      const { headers } = await api.call("POST", "/auth/signin", { json });
      expect([headers.get("RateLimit-Limit"), headers.get("RateLimit-Remaining")]).toEqual(["10", String(left)]);
      // A quarter of an hour from the first of them, in seconds.
      expect(Number(headers.get("RateLimit-Reset"))).toBeLessThanOrEqual(900);
      expect(Number(headers.get("RateLimit-Reset"))).toBeGreaterThan(840);
    }
    const answer = await api.call("POST", "/auth/signin", { json });
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get("Retry-After"))).toBeGreaterThan(0);
    expect((answer.body as { detail: string }).detail).toMatch(/Demasiados intentos.*minutos/);
  });

  it("ends a session at sign-out, its refresh token with it", async () => {
    const account = await api.signUp();
    expect((await api.call("POST", "/auth/signout", { token: account.token })).status).toBe(204);
    expect((await session(account.token)).status).toBe(401);
    expect((await refresh(account.refresh)).status).toBe(401);
  });

  it("rotates the refresh token, and the old access token ends", async () => {
    const account = await api.signUp();
    const answer = await refresh(account.refresh);
    expect(answer.status).toBe(200);
    expect(refreshOf(answer.headers)).not.toBe(account.refresh);
    expect(answer.headers.get("Set-Cookie")).toMatch(/HttpOnly/);
    expect((await session(answer.text)).status).toBe(200);
    expect((await session(account.token)).status).toBe(401);
  });

  it("makes one rotation of twenty parallel refreshes, and all succeed", async () => {
    const account = await api.signUp();
    const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(account.refresh)));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(200);
    expect((await session(answers[7]?.text ?? "")).status).toBe(200);
  });

  it("ends the session when an old refresh token is reused", async () => {
    const account = await api.signUp();
    const next = await refresh(account.refresh);
    await api.db
      .updateTable("sessions")
      .set({ rotatedAt: Date.now() - 31_000 })
      .where("userId", "=", account.id)
      .execute();
    expect((await refresh(account.refresh)).status).toBe(401);
    expect((await session(next.text)).status).toBe(401);
    expect((await refresh(refreshOf(next.headers))).status).toBe(401);
  });

  it("accepts no forged, expired or absent token", async () => {
    const account = await api.signUp();
    const [id, generation] = account.refresh.split(".");
    for (const token of [
      "",
      "x",
      `${id}.${generation}.AAAA`,
      `${id}.99.${account.refresh.split(".")[2]}`,
      "..",
      "%00",
    ]) {
      expect((await refresh(token)).status).toBe(401);
      expect((await session(token)).status).toBe(401);
    }
    await api.db
      .updateTable("sessions")
      .set({ accessExpiresAt: Date.now() - 1 })
      .where("userId", "=", account.id)
      .execute();
    expect((await session(account.token)).status).toBe(401);
  });

  it("lets an inactive account see its session and nothing else", async () => {
    const account = await api.signUp();
    await api.db.updateTable("users").set({ status: "inactive" }).where("id", "=", account.id).execute();
    expect((await session(account.token)).status).toBe(200);
    const chats = await api.call("GET", "/api/chat", { token: account.token });
    expect(chats.status).toBe(403);
    expect((chats.body as { detail: string }).detail).toBe(
      "Tu cuenta está inactiva. Escríbenos a soporte para reactivarla.",
    );
  });

  it("records each sign-in event, without secrets", async () => {
    const account = await api.signUp();
    await api.call("POST", "/auth/signin", { json: { email: account.email, password: "no es esta" } });
    const rows = await api.db.selectFrom("audit").where("resourceId", "=", account.id).selectAll().execute();
    expect(rows.map(({ action }) => action)).toEqual(["signup", "signin-failed"]);
    expect(JSON.stringify(rows)).not.toContain("no es esta");
  });
});

describe.each(engines)("registration on $name", (engine) => {
  it("when closed, admits the first account only", async () => {
    const api = await openApi(engine, { signup: "closed" });
    await api.signUp("Primera");
    const answer = await api.call("POST", "/auth/signup", {
      json: { name: "Otra", email: "otra@ejemplo.es", password },
    });
    expect(answer.status).toBe(403);
    expect((answer.body as { detail: string }).detail).toMatch(/registro está cerrado/);
    await api.close();
  });

  it("makes one administrator of ten simultaneous sign-ups", async () => {
    const api = await openApi(engine);
    await Promise.all(Array.from({ length: 10 }, () => api.signUp()));
    const admins = await api.db.selectFrom("users").where("role", "=", "admin").select("id").execute();
    expect(admins).toHaveLength(1);
    await api.close();
  });
});

it("lets a whole school in from one network, and stops who guesses from there", async () => {
  const own = await openApi(sqlite);
  onTestFinished(() => own.close());
  const { email } = await own.signUp();
  const signIn = async (json: object) => (await own.call("POST", "/auth/signin", { json })).status;
  for (let n = 0; n < 105; n++) expect(await signIn({ email, password })).toBe(200);
  let refused = 0;
  while (refused < 101 && (await signIn({ email: `${refused}@ejemplo.es`, password: "x" })) === 401) refused++;
  expect(refused).toBeLessThan(101);
  expect(await signIn({ email, password })).toBe(429);
});
