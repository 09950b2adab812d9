import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { queryEngines } from "../support/engines.ts";

type Json = Record<string, unknown>;
/** Something that an administrator changes and deletes; `path` is made by `make`. */
type Thing = {
  name: string;
  make(house: House): Promise<string>;
  method?: "PUT" | "PATCH";
  change?: Json | ((house: House) => Json);
  /** The owner's id, unless the administrator is the owner. */
  whose?: "ana";
};
type House = { api: Api; admin: Account; other: Account; ana: Account };
type Start = { chatId: string; userMessageId: string | null };

const made = async ({ api }: House, path: string, json: Json, { token }: Account) => {
  const answer = await api.call("POST", path, { token, json });
  if (answer.status !== 201) throw new Error(answer.text);
  return `${path}/${(answer.body as { id: string }).id}`;
};
const converse = async ({ api, ana }: House): Promise<Start> => {
  const [start] = await api.converse(ana.token, { content: "Hola" });
  if (start?.type !== "start") throw new Error("no start");
  return start;
};
const name = () => `Nombre ${crypto.randomUUID()}`;

const things: Thing[] = [
  { name: "chat", make: async (house) => `/api/chat/${(await converse(house)).chatId}`, change: { title: "Otro" } },
  {
    name: "message",
    make: async (house) => {
      const { chatId, userMessageId } = await converse(house);
      await house.api.inspect(house.admin.token, "chat", chatId);
      return `/api/message/${userMessageId}`;
    },
    change: { content: "Otra cosa" },
  },
  {
    name: "project",
    make: async (house) => {
      const path = await made(house, "/api/project", { name: "Tesis" }, house.ana);
      await house.api.inspect(house.admin.token, "project", path.split("/").at(-1) ?? "");
      return path;
    },
    method: "PUT",
    change: { name: "Otra" },
  },
  {
    name: "assistant of another administrator",
    make: (house) => made(house, "/api/assistant", { name: "Corrector", shared: true }, house.other),
    method: "PUT",
    change: { name: "Otro", shared: true },
  },
  {
    name: "template of another administrator",
    make: (house) => made(house, "/api/template", { title: "Carta", content: "Hola", shared: true }, house.other),
    method: "PUT",
    change: { title: "Otra", content: "Adiós", shared: true },
  },
  {
    name: "file",
    make: async ({ api, ana }) => {
      const { body } = await api.upload(ana.token, [new File(["Hola"], "hola.txt")]);
      return `/api/file/${(body as { items: { id: string }[] }).items[0]?.id}`;
    },
  },
  {
    name: "training",
    make: (house) =>
      made(house, "/api/training", { title: "T", kind: "instruction", content: "Sé breve" }, house.admin),
    change: { title: "Otro" },
  },
  {
    name: "group",
    make: (house) => made(house, "/api/group", { name: name() }, house.admin),
    method: "PUT",
    change: () => ({ name: name() }),
  },
  {
    name: "model",
    make: (house) =>
      made(house, "/api/model", { name: name(), provider: "ollama", externalId: "m", enabled: false }, house.admin),
    method: "PUT",
    change: () => ({ name: name(), provider: "ollama", externalId: "m", enabled: false }),
  },
  {
    name: "tool",
    make: (house) => made(house, "/api/tool", { name: name(), kind: "time" }, house.admin),
    method: "PUT",
    change: () => ({ name: name(), kind: "time" }),
  },
  {
    name: "page",
    make: (house) => made(house, "/api/page", { slug: crypto.randomUUID(), title: "P", body: "x" }, house.admin),
    method: "PUT",
    change: () => ({ slug: crypto.randomUUID(), title: "Otra", body: "y" }),
  },
  {
    name: "user",
    make: async ({ api }) => `/api/user/${(await api.signUp("Berta")).id}`,
    change: { name: "Otro nombre" },
  },
];

for (const engine of await queryEngines()) {
  describe(`a change on ${engine.name}`, () => {
    let house: House;
    beforeAll(async () => {
      const api = await openApi(engine);
      const admin = await api.signUp("Admin");
      const other = await api.signUp("Otra");
      await api.call("PATCH", `/api/user/${other.id}`, { token: admin.token, json: { role: "admin" } });
      const ana = await api.signUp("Ana");
      house = { api, admin, other, ana };
    });
    afterAll(() => house.api.close());

    const bodyOf = ({ change }: Thing) => (typeof change === "function" ? change(house) : change);
    /** As another program does, over the network. */
    const call = (method: string, path: string, json?: Json, headers: Record<string, string> = {}) =>
      house.api.call(method, `/v1${path}`, { token: house.admin.token, json, headers });

    it.each(things.filter(({ change }) => change).map((thing) => [thing.name, thing] as const))(
      "of a %s is made with the ETag that was served, and not over somebody else's",
      async (_, thing) => {
        const path = await thing.make(house);
        const method = thing.method ?? "PATCH";
        const { headers } = await call("GET", path);
        const tag = headers.get("ETag") ?? "";
        expect((await call("GET", path, undefined, { "If-None-Match": tag })).status).toBe(304);
        const first = await call(method, path, bodyOf(thing), { "If-Match": tag });
        expect([first.status, first.text]).toEqual([200, first.text]);
        const second = await call(method, path, bodyOf(thing), { "If-Match": tag });
        expect([second.status, Object.keys(second.body)]).toEqual([409, expect.arrayContaining(["current"])]);
        expect((await call(method, path, bodyOf(thing), { "If-Match": "*" })).status).toBe(200);
      },
    );

    it.each(things.map((thing) => [thing.name, thing] as const))(
      "of a %s, or its deletion, is not made where the audit trail can't be written",
      async (_, thing) => {
        const { api } = house;
        const path = await thing.make(house);
        const before = await call("GET", path);
        expect(before.status).toBe(200);
        const counted = () =>
          api.db
            .selectFrom("audit")
            .select((e) => e.fn.countAll().as("count"))
            .executeTakeFirst();
        const rows = await counted();
        await unwritable(api, async () => {
          if (thing.change) expect((await call(thing.method ?? "PATCH", path, bodyOf(thing))).status).toBe(500);
          expect((await call("DELETE", path)).status).toBe(500);
        });
        const after = await call("GET", path);
        expect([after.status, after.body]).toEqual([200, before.body]);
        if (thing.change) expect((await call(thing.method ?? "PATCH", path, bodyOf(thing))).status).toBe(200);
        expect((await call("DELETE", path)).status).toBe(204);
        const more = Number((await counted())?.count) - Number(rows?.count);
        expect(more).toBeGreaterThanOrEqual(thing.change ? 2 : 1);
      },
    );

    it("of one field keeps a simultaneous change to another field", async () => {
      const { id } = (await call("POST", "/api/training", { title: "Uno", kind: "knowledge", content: "Uno" }))
        .body as {
        id: string;
      };
      const path = `/api/training/${id}`;
      for (let n = 0; n < 10; n++) {
        const changes = [{ title: `Título ${n}` }, { content: `Texto ${n}` }];
        await Promise.all(changes.map((json) => call("PATCH", path, json)));
        expect((await call("GET", path)).body).toMatchObject({ title: `Título ${n}`, content: `Texto ${n}` });
      }
    });

    it("of a model's address drops a key written simultaneously", async () => {
      const given = { provider: "openai-compatible", externalId: "x", apiKey: null };
      for (let n = 0; n < 10; n++) {
        const here = { ...given, name: name(), baseUrl: "http://127.0.0.1:9/v1" };
        const path = await made(house, "/api/model", here, house.admin);
        const elsewhere = { ...here, baseUrl: "http://127.0.0.1:8/v1" };
        await Promise.all([call("PUT", path, { ...here, apiKey: "sk-uno" }), call("PUT", path, elsewhere)]);
        const { body } = await call("GET", path);
        expect(body).not.toMatchObject({ baseUrl: "http://127.0.0.1:8/v1", hasKey: true });
      }
    });

    it("to two default models at once leaves one", async () => {
      const given = { provider: "openai-compatible", externalId: "x", baseUrl: "http://127.0.0.1:9/v1" };
      const both = [1, 2].map(() => made(house, "/api/model", { ...given, name: name() }, house.admin));
      const paths = await Promise.all(both);
      for (let n = 0; n < 5; n++) {
        const json = () => ({ ...given, name: name(), isDefault: true });
        const answers = await Promise.all(paths.map((path) => call("PUT", path, json())));
        expect(answers.map(({ status }) => status)).toEqual([200, 200]);
        const { body } = await call("GET", `/api/model?filter=${encodeURIComponent('{"isDefault":true}')}`);
        expect((body as { items: object[] }).items).toHaveLength(1);
      }
    });

    it("of a summary hides its text from an unauthorised administrator", async () => {
      const { chatId, userMessageId: upToMessageId } = await converse(house);
      await house.api.inspect(house.admin.token, "chat", chatId);
      const path = await made(house, "/api/summary", { chatId, upToMessageId, content: "SECRETO" }, house.admin);
      await house.api.db.deleteFrom("audit").where("resourceId", "=", chatId).execute();
      const answer = await call("DELETE", path, undefined, { "If-Match": '"x"' });
      expect([answer.status, answer.text]).toEqual([409, expect.not.stringContaining("SECRETO")]);
    });

    it("refuses a stale deletion and deletes only once", async () => {
      const path = await made(house, "/api/group", { name: name() }, house.admin);
      const tag = (await call("GET", path)).headers.get("ETag") ?? "";
      await call("PUT", path, { name: name() });
      expect((await call("DELETE", path, undefined, { "If-Match": tag })).status).toBe(409);
      const answers = await Promise.all([call("DELETE", path), call("DELETE", path)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([204, 404]);
      const told = await house.api.db
        .selectFrom("audit")
        .where("resourceId", "=", path.split("/").at(-1) ?? "")
        .where("action", "=", "delete")
        .select("id")
        .execute();
      expect(told).toHaveLength(1);
    });

    it("returns an uploaded JSON file unchanged under the versioned path", async () => {
      const { api, ana } = house;
      const sent = '{ "updatedAt": "ayer\\n" }';
      const { body } = await api.upload(ana.token, [new File([sent], "datos.json", { type: "application/json" })]);
      const [file] = (body as { items: { id: string }[] }).items;
      const read = await api.call("GET", `/v1/api/file/${file?.id}/content`, { token: ana.token });
      expect([read.status, read.text]).toEqual([200, sent]);
    });

    it("opens and ends no session when audit can't be written", async () => {
      const { api, ana } = house;
      const sessions = () => api.db.selectFrom("sessions").where("userId", "=", ana.id).select("id").execute();
      const before = await sessions();
      await unwritable(api, async () => {
        const json = { email: ana.email, password: "una frase larga y rara" };
        await api.call("POST", "/auth/signin", { json });
        expect((await api.call("DELETE", "/auth/session", { token: ana.token })).status).not.toBe(204);
        expect((await api.call("DELETE", "/auth/sessions", { token: ana.token })).status).toBe(500);
      });
      expect(await sessions()).toEqual(before);
    });
  });
}

/** Does something while no row can be added to the audit trail. */
async function unwritable(api: Api, work: () => Promise<void>): Promise<void> {
  await api.db.schema.alterTable("audit").renameTo("audit_away").execute();
  try {
    await work();
  } finally {
    await api.db.schema.alterTable("audit_away").renameTo("audit").execute();
  }
}
