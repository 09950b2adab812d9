import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { ruleEngines, sqlite } from "../support/engines.ts";

for (const engine of await ruleEngines()) {
  describe(`what other programs rely on, on ${engine.name}`, () => {
    let api: Api;
    let ana: Account;
    let berta: Account;
    beforeAll(async () => {
      api = await openApi(engine);
      await api.signUp("Admin");
      ana = await api.signUp("Ana");
      berta = await api.signUp("Berta");
    });
    afterAll(() => api.close());

    const create = (key: string, json: object, { token } = ana) =>
      api.call("POST", "/v1/api/project", { token, json, headers: { "Idempotency-Key": key } });

    it("creates one item when the same request is sent twice", async () => {
      const [first, again] = await Promise.all([create("uno", { name: "Tesis" }), create("uno", { name: "Tesis" })]);
      const statuses = [first?.status, again?.status].sort();
      // The second came while the first was being made, or just after.
      expect([
        [201, 201],
        [201, 409],
      ]).toContainEqual(statuses);
      const later = await create("uno", { name: "Tesis" });
      expect([later.status, later.headers.get("Idempotent-Replayed")]).toEqual([201, "true"]);
      expect((later.body as { name: string }).name).toBe("Tesis");
      const { total } = (await api.call("GET", "/v1/api/project", { token: ana.token })).body as { total: number };
      expect(total).toBe(1);
    });

    it("binds an idempotency key to one successful request per person", async () => {
      expect((await create("dos", { name: "Una" })).status).toBe(201);
      expect((await create("dos", { name: "Otra" })).status).toBe(422);
      const bertas = await create("dos", { name: "Una" }, berta);
      expect([bertas.status, bertas.headers.get("Idempotent-Replayed")]).toEqual([201, null]);
      expect((await create("tres", { name: "" })).status).toBe(422);
      expect((await create("tres", { name: "Ahora sí" })).status).toBe(201);
      expect((await create("", { name: "x" })).status).toBe(422);
      expect((await create("x".repeat(300), { name: "x" })).status).toBe(422);
      expect(
        (await api.call("POST", "/v1/api/project", { json: { name: "x" }, headers: { "Idempotency-Key": "k" } }))
          .status,
      ).toBe(401);
    });

    it("answers 304 to who has it already, until it changes", async () => {
      const read = (path: string, tag?: string) =>
        api.call("GET", path, { token: ana.token, headers: tag ? { "If-None-Match": tag } : {} });
      const list = await read("/v1/api/project");
      const tag = list.headers.get("ETag") ?? "";
      expect(tag).toMatch(/^W\/"[\w-]+"$/);
      const same = await read("/v1/api/project", `"otra", ${tag}`);
      expect([same.status, same.text]).toEqual([304, ""]);
      const { items } = list.body as { items: { id: string }[] };
      const one = await read(`/v1/api/project/${items[0]?.id}`);
      expect((await read(`/v1/api/project/${items[0]?.id}`, one.headers.get("ETag") ?? "")).status).toBe(304);
      await create("cambio", { name: "Una más" });
      expect((await read("/v1/api/project", tag)).status).toBe(200);
    });

    it("says with which methods a call is made", async () => {
      const { token } = ana;
      const refused = await api.call("PUT", "/v1/api/chat", { token, json: {} });
      expect([refused.status, refused.headers.get("Allow")]).toEqual([405, "GET, HEAD, POST"]);
      expect(refused.text).toContain("Esta llamada se hace con GET, HEAD, POST.");
      const inside = await api.call("POST", `/v1/api/chat/${crypto.randomUUID()}`, { token, json: {} });
      expect([inside.status, inside.headers.get("Allow")]).toEqual([405, "DELETE, GET, HEAD, PATCH"]);
      expect((await api.call("GET", "/v1/api/nada", { token })).status).toBe(404);
    });

    it("gives each answer an id", async () => {
      const ids = await Promise.all(
        ["/v1/api/chat", "/v1/nada", "/v1/docs"].map(async (path) =>
          (await api.call("GET", path, { token: ana.token })).headers.get("X-Request-Id"),
        ),
      );
      expect(new Set(ids).size).toBe(3);
      expect(ids.every((id) => /^[\da-f-]{36}$/.test(id ?? ""))).toBe(true);
    });
  });
}

describe("the document", () => {
  let api: Api;
  beforeAll(async () => {
    api = await openApi(sqlite);
  });
  afterAll(() => api.close());

  type Body = { content?: Record<string, { example?: unknown; schema?: { format?: string } }> };
  type Operation = { requestBody?: Body; responses: Record<string, Body> };
  type Document = { paths: Record<string, Record<string, Operation>> };

  it("gives examples of every body and the errors of calls", async () => {
    const { paths } = (await api.call("GET", "/v1/api/openapi.json")).body as unknown as Document;
    for (const [path, operations] of Object.entries(paths)) {
      for (const [method, { requestBody, responses }] of Object.entries(operations)) {
        for (const body of [requestBody, ...Object.values(responses)]) {
          for (const [type, content] of Object.entries(body?.content ?? {})) {
            if (type !== "application/json") continue;
            expect([method, path, content.example !== undefined]).toEqual([method, path, true]);
          }
        }
        expect(Object.keys(responses)).toContain("422");
      }
    }
  });

  it("is readable as a page without scripts, listing every call", async () => {
    const answer = await api.call("GET", "/v1/docs");
    expect(answer.headers.get("Content-Type")).toMatch(/^text\/html/);
    expect(answer.text).not.toContain("<script");
    const { paths } = (await api.call("GET", "/v1/api/openapi.json")).body as unknown as Document;
    for (const path of Object.keys(paths)) expect(answer.text).toContain(` ${path}</code>`);
  });

  it("shows request examples that the API accepts for creating items", async () => {
    const admin = await api.signUp("Admin");
    const { paths } = (await api.call("GET", "/v1/api/openapi.json")).body as unknown as Document;
    for (const path of ["/api/chat", "/api/project", "/api/training", "/api/page", "/api/key"]) {
      const json = paths[path]?.post?.requestBody?.content?.["application/json"]?.example;
      const answer = await api.call("POST", `/v1${path}`, { token: admin.token, json });
      expect([path, answer.status, answer.text]).toEqual([path, 201, answer.text]);
    }
  });
});
