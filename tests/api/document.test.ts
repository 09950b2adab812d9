import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Api, openApi } from "../support/api.ts";
import { sqlite } from "../support/engines.ts";

let api: Api;
beforeAll(async () => {
  api = await openApi(sqlite);
});
afterAll(() => api.close());

type Document = { openapi: string; paths: Record<string, Record<string, unknown>>; components: { schemas: object } };

describe("the API's document", () => {
  it("describes every call, the conversation's three bodies too", async () => {
    const document = (await api.call("GET", "/api/openapi.json")).body as Document;
    expect(document.openapi).toBe("3.1.0");
    const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    expect(calls.sort()).toEqual([
      "delete /api/access/{id}",
      "delete /api/assistant/{id}",
      "delete /api/chat/{id}",
      "delete /api/chat/{id}/share",
      "delete /api/device",
      "delete /api/device/here",
      "delete /api/feed",
      "delete /api/file/{id}",
      "delete /api/group/{id}",
      "delete /api/hold/{id}",
      "delete /api/invitation/{id}",
      "delete /api/key/{id}",
      "delete /api/member/{id}",
      "delete /api/message/{id}",
      "delete /api/message/{id}/opinion",
      "delete /api/model/{id}",
      "delete /api/notice/{id}",
      "delete /api/page/{id}",
      "delete /api/project/{id}",
      "delete /api/project/{id}/members/{userId}",
      "delete /api/retention/{id}",
      "delete /api/schedule/{id}",
      "delete /api/search-model/{id}",
      "delete /api/subscription/{id}",
      "delete /api/summary/{id}",
      "delete /api/system/backup/{name}",
      "delete /api/template/{id}",
      "delete /api/tool/{id}",
      "delete /api/training/{id}",
      "delete /api/user/{id}",
      "delete /api/user/{id}/sessions",
      "delete /api/voice-model/{id}",
      "delete /auth/authenticator",
      "delete /auth/passkey/{id}",
      "delete /auth/sessions",
      "delete /auth/sessions/{id}",
      "get /api/access",
      "get /api/access/{id}",
      "get /api/assistant",
      "get /api/assistant/{id}",
      "get /api/audit",
      "get /api/audit/{id}",
      "get /api/chat",
      "get /api/chat/shown",
      "get /api/chat/{id}",
      "get /api/chat/{id}/export",
      "get /api/chat/{id}/groups",
      "get /api/chat/{id}/messages",
      "get /api/chat/{id}/share",
      "get /api/dashboard/initialize",
      "get /api/device",
      "get /api/email",
      "get /api/email/{id}",
      "get /api/feed",
      "get /api/feed/{token}",
      "get /api/file",
      "get /api/file/{id}",
      "get /api/file/{id}/content",
      "get /api/file/{id}/passages",
      "get /api/group",
      "get /api/group/{id}",
      "get /api/hold",
      "get /api/hold/{id}",
      "get /api/inspection",
      "get /api/inspection/{resource}/{id}",
      "get /api/intelligence/conversation/{messageId}/notify",
      "get /api/invitation",
      "get /api/invitation/{id}",
      "get /api/invitation/{id}/link",
      "get /api/job",
      "get /api/job/{id}",
      "get /api/key",
      "get /api/member",
      "get /api/member/{id}",
      "get /api/message",
      "get /api/message/{id}",
      "get /api/message/{id}/opinion",
      "get /api/message/{id}/prompt",
      "get /api/message/{id}/speech",
      "get /api/model",
      "get /api/model/{id}",
      "get /api/notice",
      "get /api/notice/{id}",
      "get /api/opinion",
      "get /api/opinion/{id}",
      "get /api/page",
      "get /api/page/{id}",
      "get /api/project",
      "get /api/project/{id}",
      "get /api/project/{id}/members",
      "get /api/retention",
      "get /api/retention/{id}",
      "get /api/retention/{id}/due",
      "get /api/schedule",
      "get /api/schedule/{id}",
      "get /api/search",
      "get /api/search-model",
      "get /api/search-model/{id}",
      "get /api/share/{token}",
      "get /api/share/{token}/file/{id}",
      "get /api/subscription",
      "get /api/subscription/{id}",
      "get /api/summary",
      "get /api/summary/{id}",
      "get /api/system",
      "get /api/system/backup",
      "get /api/system/backup/{name}",
      "get /api/system/diagnosis/{id}",
      "get /api/system/processing",
      "get /api/template",
      "get /api/template/{id}",
      "get /api/terms",
      "get /api/tool",
      "get /api/tool/{id}",
      "get /api/training",
      "get /api/training/{id}",
      "get /api/usage",
      "get /api/usage/figures",
      "get /api/user",
      "get /api/user/{id}",
      "get /api/user/{id}/export",
      "get /api/user/{id}/export/{exportId}",
      "get /api/user/{id}/exports",
      "get /api/user/{id}/use",
      "get /api/voice-model",
      "get /api/voice-model/{id}",
      "get /auth/authenticator",
      "get /auth/invitation/{token}",
      "get /auth/options",
      "get /auth/passkey",
      "get /auth/person",
      "get /auth/reset/{token}",
      "get /auth/session",
      "get /auth/sessions",
      "get /models",
      "get /models/{id}",
      "patch /api/chat/{id}",
      "patch /api/message/{id}",
      "patch /api/training/{id}",
      "patch /api/user/{id}",
      "post /api/access",
      "post /api/assistant",
      "post /api/audit/check",
      "post /api/chat",
      "post /api/chat/import",
      "post /api/chat/{id}/copy",
      "post /api/device",
      "post /api/email/contact",
      "post /api/email/support",
      "post /api/file/uploads",
      "post /api/file/{id}/reading",
      "post /api/group",
      "post /api/hold",
      "post /api/inspection",
      "post /api/intelligence/conversation",
      "post /api/intelligence/conversation/{messageId}/notify",
      "post /api/intelligence/conversation/{messageId}/stop",
      "post /api/invitation",
      "post /api/job/again",
      "post /api/key",
      "post /api/member",
      "post /api/message",
      "post /api/message/{id}/decision",
      "post /api/model",
      "post /api/model/discover",
      "post /api/model/{id}/test",
      "post /api/notice",
      "post /api/notice/{id}/read",
      "post /api/opinion/{id}/try",
      "post /api/page",
      "post /api/project",
      "post /api/project/{id}/members",
      "post /api/retention",
      "post /api/schedule",
      "post /api/search-model",
      "post /api/subscription",
      "post /api/summary",
      "post /api/system/backup",
      "post /api/system/diagnosis",
      "post /api/system/diagnosis/{id}/marks",
      "post /api/template",
      "post /api/terms",
      "post /api/tool",
      "post /api/tool/{id}/list",
      "post /api/tool/{id}/sign-in",
      "post /api/tool/{id}/sign-in/end",
      "post /api/training",
      "post /api/user",
      "post /api/user/{id}/export",
      "post /api/voice-model",
      "post /api/voice/transcriptions",
      "post /auth/authenticator",
      "post /auth/invitation/{token}",
      "post /auth/ldap/{id}",
      "post /auth/link",
      "post /auth/oidc/backchannel",
      "post /auth/oidc/{id}",
      "post /auth/oidc/{id}/end",
      "post /auth/oidc/{id}/join",
      "post /auth/passkey",
      "post /auth/passkey/options",
      "post /auth/refresh",
      "post /auth/reset",
      "post /auth/signin",
      "post /auth/signin/code",
      "post /auth/signin/passkey",
      "post /auth/signin/passkey/options",
      "post /auth/signout",
      "post /auth/signup",
      "post /chat/completions",
      "post /embeddings",
      "put /api/access/{id}",
      "put /api/assistant/{id}",
      "put /api/chat/{id}/groups",
      "put /api/chat/{id}/share",
      "put /api/feed",
      "put /api/group/{id}",
      "put /api/hold/{id}",
      "put /api/invitation/{id}",
      "put /api/member/{id}",
      "put /api/message/{id}/opinion",
      "put /api/model/{id}",
      "put /api/notice/{id}",
      "put /api/page/{id}",
      "put /api/project/{id}",
      "put /api/project/{id}/draft",
      "put /api/project/{id}/owner",
      "put /api/retention/{id}",
      "put /api/schedule/{id}",
      "put /api/search-model/{id}",
      "put /api/subscription/{id}",
      "put /api/summary/{id}",
      "put /api/template/{id}",
      "put /api/tool/{id}",
      "put /api/voice-model/{id}",
      "put /auth/authenticator",
      "put /auth/reset/{token}",
    ]);
    expect(document.components.schemas).toMatchObject({ NewMessage: {}, ReplyAgain: {}, FollowReply: {} });
  });

  it("is answered with problems for what is not there", async () => {
    const answer = await api.call("GET", "/api/nada");
    expect(answer.status).toBe(404);
    expect(answer.headers.get("Content-Type")).toBe("application/problem+json");
  });

  it.each([
    ["no JSON", "{", 400],
    ["no object", "[]", 422],
    ["null", "null", 422],
    ["a prototype", '{"__proto__":{"role":"admin"},"name":"A","email":"a@b.es"}', 422],
    ["something deep", `${"[".repeat(5000)}${"]".repeat(5000)}`, 422],
    ["something huge", JSON.stringify({ name: "x".repeat(300_000) }), 413],
  ])("refuses a body that is %s with a sentence, and goes on", async (_name, body, status) => {
    const answer = await api.call("POST", "/auth/signup", { json: body });
    expect(answer.status).toBe(status);
    expect((answer.body as { detail: string }).detail).toMatch(/^[A-ZÁ-Ú].*\.$/);
    expect((await api.call("GET", "/auth/session")).status).toBe(401);
  });
});

describe("models", () => {
  it("are the admin's alone to change, and never show their key", async () => {
    const admin = await api.signUp("Admin");
    const ana = await api.signUp("Ana");
    const json = {
      name: "Uno",
      provider: "openai-compatible",
      externalId: "x",
      baseUrl: "http://127.0.0.1:9/v1",
      apiKey: "sk-SECRETO",
    };
    expect((await api.call("POST", "/api/model", { token: ana.token, json })).status).toBe(404);
    const made = await api.call("POST", "/api/model", { token: admin.token, json });
    const { id } = made.body as { id: string };
    expect(made.body).toMatchObject({ name: "Uno", hasKey: true });
    for (const token of [admin.token, ana.token]) {
      for (const path of ["/api/model", `/api/model/${id}`])
        expect((await api.call("GET", path, { token })).text).not.toContain("SECRETO");
    }
    expect((await api.call("GET", `/api/model/${id}`, { token: ana.token })).body).toMatchObject({
      hasKey: false,
      baseUrl: null,
    });
    for (const method of ["PUT", "DELETE"])
      expect((await api.call(method, `/api/model/${id}`, { token: ana.token, json })).status).toBe(404);
    const row = await api.db.selectFrom("models").where("id", "=", id).select("apiKey").executeTakeFirstOrThrow();
    expect(row.apiKey).not.toContain("SECRETO");
    const audit = await api.db.selectFrom("audit").where("resourceId", "=", id).select("changes").execute();
    expect(JSON.stringify(audit)).not.toContain("SECRETO");
  });

  it("ask for the key again when their address changes", async () => {
    const admin = await api.signUp("Otra");
    await api.db.updateTable("users").set({ role: "admin" }).where("id", "=", admin.id).execute();
    const json = {
      name: "Dos",
      provider: "openai-compatible",
      externalId: "x",
      baseUrl: "http://127.0.0.1:9/v1",
      apiKey: "sk-1",
    };
    const { id } = (await api.call("POST", "/api/model", { token: admin.token, json })).body as { id: string };
    const { apiKey, ...rest } = json;
    const kept = await api.call("PUT", `/api/model/${id}`, { token: admin.token, json: { ...rest, name: "Tres" } });
    expect(kept.body).toMatchObject({ name: "Tres", hasKey: apiKey !== "" });
    const moved = await api.call("PUT", `/api/model/${id}`, {
      token: admin.token,
      json: { ...rest, baseUrl: "http://127.0.0.1:8/v1" },
    });
    expect(moved.status).toBe(422);
    expect((moved.body as { errors: Record<string, string> }).errors.apiKey).toMatch(/escribir la clave otra vez/);
  });
});

describe("lists", () => {
  it("come in pages that a cursor goes on with, with their total", async () => {
    const ana = await api.signUp("Ana");
    for (let n = 0; n < 5; n++) await api.call("POST", "/api/chat", { token: ana.token, json: { title: `Chat ${n}` } });
    type List = { items: { title: string }[]; nextCursor: string | null; total: number };
    const titles: string[] = [];
    let cursor = "";
    for (let page = 0; page < 3; page++) {
      const sort = encodeURIComponent('{"title":"asc"}');
      const list = (
        await api.call("GET", `/api/chat?limit=2&sort=${sort}&cursor=${cursor}`.replace(/&cursor=$/, ""), {
          token: ana.token,
        })
      ).body as List;
      expect(list.total).toBe(5);
      titles.push(...list.items.map(({ title }) => title));
      cursor = list.nextCursor ?? "";
    }
    expect(titles).toEqual(["Chat 0", "Chat 1", "Chat 2", "Chat 3", "Chat 4"]);
    expect(cursor).toBe("");
  });

  it.each([
    ["limit=0", "limit"],
    ["limit=x", "limit"],
    ["limit=1000", "limit"],
    ["sort=%7B%22userId%22%3A%22asc%22%7D", "sort"],
    ["sort=x", "sort"],
    ["filter=%5B%5D", "filter"],
    ["filter=null", "filter"],
    ["filter=5", "filter"],
    ["filter=%7B%22draft%22%3A%22x%22%7D", "filter"],
    ["filter=%7B%22pinned%22%3A%22x%22%7D", "filter"],
    ["filter=%7B%22__proto__%22%3A%22x%22%7D", "filter"],
    ["cursor=x", "cursor"],
    [`cursor=${Buffer.from('["title asc","a","b"]').toString("base64url")}`, "cursor"],
    [`cursor=${Buffer.from('["lastMessageAt desc",{},"b"]').toString("base64url")}`, "cursor"],
    [`cursor=${Buffer.from('["lastMessageAt desc",1]').toString("base64url")}`, "cursor"],
    [`cursor=${Buffer.from('["lastMessageAt desc",1,"b","c"]').toString("base64url")}`, "cursor"],
    [`cursor=${Buffer.from('["lastMessageAt desc",1,2]').toString("base64url")}`, "cursor"],
    ["q=a&q=b", "q"],
  ])("with ?%s are refused by the parameter's name", async (query, name) => {
    const ana = await api.signUp("Ana");
    const answer = await api.call("GET", `/api/chat?${query}`, { token: ana.token });
    expect(answer.status).toBe(422);
    expect(Object.keys((answer.body as { errors: object }).errors)).toEqual([name]);
  });

  it("search for % and _ as letters, whatever the case", async () => {
    const ana = await api.signUp("Ana");
    for (const title of ["Canción al 100%", "Otra", "Árbol"])
      await api.call("POST", "/api/chat", { token: ana.token, json: { title } });
    const found = async (q: string) =>
      ((await api.call("GET", `/api/chat?q=${encodeURIComponent(q)}`, { token: ana.token })).body as { total: number })
        .total;
    expect([
      await found("CANC"),
      await found("100%"),
      await found("%"),
      await found("_"),
      await found("árbol"),
    ]).toEqual([1, 1, 1, 0, 1]);
  });

  it("gives examples that its own schemas let through", async () => {
    const document = (await api.call("GET", "/api/openapi.json")).body as Document;
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: "document", ...document });
    type Content = Record<string, { schema?: object; example?: unknown }>;
    type Operation = { requestBody?: { content?: Content }; responses: Record<string, { content?: Content }> };
    const wrong: string[] = [];
    let tried = 0;
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const [method, operation] of Object.entries(operations as Record<string, Operation>)) {
        for (const { content = {} } of [operation.requestBody ?? {}, ...Object.values(operation.responses)]) {
          for (const { schema, example } of Object.values(content)) {
            if (!schema || example === undefined) continue;
            const whole = JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"document#/components'));
            const fits = ajv.compile(whole);
            tried++;
            if (!fits(example)) wrong.push(`${method} ${path}: ${ajv.errorsText(fits.errors)}`);
          }
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(tried).toBeGreaterThan(50);
  });
});
