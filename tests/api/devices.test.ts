import { spawnSync } from "node:child_process";
import { createECDH, randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi, password } from "../support/api.ts";
import { findEngines } from "../support/engines.ts";
import { inOwnNetwork, mayUnshare } from "../support/public-address.ts";

type Sent = { path: string; status: number; headers: Record<string, string>; notice: object; signed: object };
type Printed = {
  chat: string;
  label: string;
  unoffered: boolean;
  sent: Sent[];
  refused: number;
  afterRefusal: string;
  before: string;
  after: string;
  log: string;
  ended: string;
};

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

// Only where a network of one's own may be made: notices go to public addresses alone.
it.runIf(mayUnshare && hasOpenssl)(
  "who waits for a reply is told on each device that takes notices, by its push service",
  { timeout: 60_000 },
  () => {
    const { chat, label, unoffered, sent, refused, afterRefusal, before, after, log, ended } =
      inOwnNetwork<Printed>("push-service.ts");
    expect(label.trim()).toBe("Avísame cuando esté");
    expect(
      sent
        .slice(0, 2)
        .map(({ path, status }) => [path, status])
        .sort(),
    ).toEqual([
      ["/busy", 201],
      ["/gone", 410],
    ]);
    const [told, ofTemporary, last] = sent.filter(({ path }) => path === "/busy");
    expect(told?.notice).toMatchObject({
      title: expect.stringMatching(/^«.+»: la respuesta ya está$/),
      body: "La respuesta que esperabas ya está.",
      path: chat,
    });
    expect(told?.signed).toMatchObject({
      aud: "https://93.184.215.14",
      sub: expect.stringMatching(/^https:\/\/tertulia\.example:\d+$/),
    });
    expect(told?.headers).toMatchObject({ ttl: "86400", "content-encoding": "aes128gcm" });
    // Only its own browser is told of what is temporary, and not even that in its words.
    expect(unoffered).toBe(true);
    expect(ofTemporary?.notice).toMatchObject({ title: "«Conversación temporal»: la respuesta ya está" });
    expect(last?.notice).toMatchObject({ title: expect.stringContaining("la respuesta ya está") });
    // A service that gives no answer is not waited for; the others are told all the same.
    expect(log).toContain("los avisos no llegan a su servicio (NoAnswer)");
    // An address of this house is none.
    expect(refused).toBe(303);
    expect(afterRefusal).toContain("El navegador ha dado una dirección de avisos que no sirve.");
    expect(before).toContain("En este dispositivo se avisa");
    expect(before).toContain("Se avisa en otro dispositivo.");
    // Its service has said that there is no such device.
    expect(after).not.toContain("otro dispositivo");
    expect(after).toContain("En este dispositivo se avisa");
    expect(ended).toContain("En este dispositivo no se avisa más.");
  },
);

const engines = await findEngines();

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

  it("is one a session, and one person's, however often and by whomever it is added", async () => {
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

  it("are kept by the name that is asked, however it was spelled", async () => {
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
