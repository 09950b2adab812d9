import { createECDH, randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { queryEngines } from "../support/engines.ts";
import { password } from "../support/password.ts";

const engines = await queryEngines();

describe.each(engines)("devices on $name", (engine) => {
  let api: Api;
  let ana: Account;
  beforeAll(async () => {
    api = await openApi(engine);
    await api.signUp("Admin");
    ana = await api.signUp("Ana");
  });
  afterAll(() => api.close());

  const newKeys = () => ({
    p256dh: createECDH("prime256v1").generateKeys("base64url"),
    auth: randomBytes(16).toString("base64url"),
  });
  const add = (token: string, endpoint: string, keys: object = newKeys()) =>
    api.call("POST", "/api/device", { token, json: { endpoint, keys } });
  const shown = async (token: string) => (await api.call("GET", "/api/device", { token })).body;
  const session = async () => (await api.call("POST", "/auth/signin", { json: { email: ana.email, password } })).text;

  it("keeps one device per session and moves it between people", async () => {
    const berta = await api.signUp("Berta");
    const all = await Promise.all(["1", "1", "2", "2"].map((n) => add(ana.token, `https://avisos.example/${n}`)));
    expect(all.map(({ status }) => status)).toEqual([204, 204, 204, 204]);
    expect(await shown(ana.token)).toMatchObject({ count: 1, here: true });
    const [{ endpoint } = { endpoint: "" }] = await api.db.selectFrom("devices").select("endpoint").execute();
    // The same browser, with somebody else signed in.
    await add(berta.token, endpoint);
    expect(await shown(ana.token)).toMatchObject({ count: 0, here: false });
    expect(await shown(berta.token)).toMatchObject({ count: 1, here: true });
    await api.call("POST", "/auth/signout", { token: berta.token });
    expect(await api.db.selectFrom("devices").select("id").execute()).toEqual([]);
  });

  it("are ten at most, the newest", async () => {
    // As many sessions as somebody may open within a quarter of an hour, and the one they have.
    for (let n = 0; n <= 10; n++) {
      const token = n === 0 ? ana.token : await session();
      expect((await add(token, `https://avisos.example/de-ana/${n}`)).status).toBe(204);
    }
    const rows = await api.db.selectFrom("devices").where("userId", "=", ana.id).select("endpoint").execute();
    expect(rows.map(({ endpoint }) => Number(endpoint.split("/").at(-1))).sort((a, b) => a - b)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
    ]);
    await api.call("DELETE", "/api/device", { token: ana.token });
    expect(await shown(ana.token)).toMatchObject({ count: 0 });
  });

  it.each([
    "http://avisos.example/1",
    "https://avisos.example@otro.example/1",
    "https://avisos'.example/1",
    "https://localhost/1",
    "https://10.0.0.1/1",
    "https://[::1]/1",
    "https://0x7f.1/1",
    "https:///",
    `https://avisos.example/${"a".repeat(1000)}`,
    "avisos",
  ])("are not told at %s", async (endpoint) => {
    const { status, text } = await add(ana.token, endpoint);
    expect([status, text]).toEqual([422, expect.stringContaining("una dirección de avisos que no sirve")]);
  });

  it("are stored under the decoded host name", async () => {
    await add(ana.token, "https://avisos.example%2eotro.example/1");
    const rows = await api.db.selectFrom("devices").where("userId", "=", ana.id).select("endpoint").execute();
    expect(rows).toEqual([{ endpoint: "https://avisos.example.otro.example/1" }]);
    await api.call("DELETE", "/api/device/here", { token: ana.token });
  });

  it("need a key that something can be encrypted with", async () => {
    for (const keys of [
      { ...newKeys(), p256dh: `B${"A".repeat(86)}` },
      { ...newKeys(), auth: "corta" },
    ]) {
      const { status, text } = await add(ana.token, "https://avisos.example/1", keys);
      expect([status, text]).toEqual([422, expect.stringContaining("una clave de avisos que no sirve")]);
    }
  });
});
