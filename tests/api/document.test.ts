import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { resources } from "../../app/routes/admin/descriptions/resources.server.ts";
import { type Api, openApi } from "../support/api.ts";
import { queryEngines, sqlite } from "../support/engines.ts";

let api: Api;
beforeAll(async () => {
  api = await openApi(sqlite);
});
afterAll(() => api.close());

type Schema = { $ref?: string; properties?: Record<string, unknown> };
type Content = { content: { "application/json": { schema: Schema } } };
type Document = { openapi: string; paths: Record<string, Record<string, unknown>>; components: { schemas: object } };

describe("the API's document", () => {
  it("describes the three bodies of a conversation", async () => {
    const document = (await api.call("GET", "/api/openapi.json")).body as Document;
    expect(document.openapi).toBe("3.1.0");
    expect(document.components.schemas).toMatchObject({ NewMessage: {}, ReplyAgain: {}, FollowReply: {} });
  });

  it("has every replaceable field in the administration's forms", async () => {
    const { components, paths } = (await api.call("GET", "/api/openapi.json")).body as Document & {
      components: { schemas: Record<string, Schema> };
    };
    const bodyOf = (path: string) => {
      const put = paths[`/api/${path}/{id}`]?.put as
        | { requestBody: { content: { "application/json": { schema: Schema } } } }
        | undefined;
      const schema = put?.requestBody.content["application/json"].schema;
      return schema?.$ref ? components.schemas[schema.$ref.split("/").at(-1) ?? ""] : schema;
    };
    const left = resources
      .filter(({ changes }) => changes === "put")
      .flatMap(({ path, fields }) =>
        Object.keys(bodyOf(path)?.properties ?? { "no body": 1 })
          .filter((name) => !fields.some((field) => field.name === name))
          .map((name) => `${path}.${name}`),
      );
    // Left out, the choices of a tool stay as they were.
    expect(left).toEqual(["tool.choices"]);
  });

  it("shows every field of a whole body, but secrets", async () => {
    const { components, paths } = (await api.call("GET", "/api/openapi.json")).body as Document & {
      components: { schemas: Record<string, Schema> };
    };
    const fieldsOf = ({ content }: Content) => {
      const { schema } = content["application/json"];
      const { properties = {} } = schema.$ref
        ? (components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {})
        : schema;
      return Object.keys(properties);
    };
    const hidden = Object.entries(paths).flatMap(([path, { put }]) => {
      const name = /^\/api\/([\w-]+)\/\{id\}$/.exec(path)?.[1];
      const { requestBody, responses } = (put ?? {}) as { requestBody?: Content; responses?: Record<string, Content> };
      if (!name || !requestBody || !responses?.["200"]) return [];
      const shown = fieldsOf(responses["200"]);
      return fieldsOf(requestBody).flatMap((field) => (shown.includes(field) ? [] : [`${name}.${field}`]));
    });
    expect(hidden.sort()).toEqual([
      // Whether a change of address may leave accounts without an access: a wish of one request.
      "access.dropsPeople",
      "access.secret",
      "model.apiKey",
      "search-model.apiKey",
      // Shown as `tools`, with the names and descriptions that the server gives them.
      "tool.choices",
      "tool.clientSecret",
      "tool.secret",
      "voice-model.apiKey",
      "webhook.secret",
    ]);
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

describe.each((await queryEngines()).map((engine) => [engine.name, engine] as const))(
  "the order of lists on %s",
  (_, engine) => {
    let own: Api;
    let token: string;
    beforeAll(async () => {
      own = await openApi(engine);
      ({ token } = await own.signUp("Admin"));
    });
    afterAll(() => own.close());

    it("sorts each administration list by every sortable column", async () => {
      for (const { path, columns } of resources) {
        for (const { name } of columns.filter(({ sorted }) => sorted)) {
          for (const way of ["asc", "desc"]) {
            const sort = encodeURIComponent(JSON.stringify({ [name]: way }));
            const answer = await own.call("GET", `/api/${path}?sort=${sort}`, { token });
            expect([path, name, answer.status]).toEqual([path, name, 200]);
          }
        }
      }
    });

    it("pages through a list sorted by a nullable column", async () => {
      for (const [name, budget] of [
        ["a", null],
        ["b", 2.5],
        ["c", null],
        ["d", 0],
        ["e", 7],
      ] as const) {
        await own.call("POST", "/api/group", { token, json: { name, budget } });
      }
      for (const [way, expected] of [
        ["asc", ["a", "c", "d", "b", "e"]],
        ["desc", ["e", "b", "d", "c", "a"]],
      ] as const) {
        const found: string[] = [];
        for (let cursor = ""; ; ) {
          const query = new URLSearchParams({
            sort: JSON.stringify({ budget: way }),
            limit: "2",
            ...(cursor && { cursor }),
          });
          const { items, nextCursor } = (await own.call("GET", `/api/group?${query}`, { token })).body as {
            items: { name: string }[];
            nextCursor: string | null;
          };
          found.push(...items.map(({ name }) => name));
          if (!nextCursor) break;
          cursor = nextCursor;
        }
        expect(found).toEqual(expected);
      }
    });
  },
);

describe("models", () => {
  it("are changed by administrators only and never reveal their key", async () => {
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
  it("come in pages with a cursor and a total", async () => {
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
