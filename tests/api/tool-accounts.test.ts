import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { reencrypt, secretKeys } from "../../app/db/stored-secrets.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";
import { signInThere, startOauthToolServer } from "../support/oauth-tool-server.ts";
import { password } from "../support/password.ts";
import { startScriptedModel, steps } from "../support/tool-servers.ts";

let mock: LLMock;
let there: Awaited<ReturnType<typeof startOauthToolServer>>;
beforeAll(async () => {
  [mock, there] = await Promise.all([startScriptedModel(), startOauthToolServer()]);
});
afterAll(async () => {
  await Promise.all([mock.stop(), there.stop()]);
});

type Connected = { id: string; name: string; connectedAt: string | null; problem: string | null };

for (const engine of await ruleEngines()) {
  describe(`a server that wants each person's account, on ${engine.name}`, () => {
    let api: Api;
    let admin: Account;
    let ana: Account;
    let berta: Account;
    let modelId: string;
    let id: string;
    const drive = () => ({ name: "disco", kind: "mcp", address: there.url, personal: true });
    beforeAll(async () => {
      api = await openApi(engine);
      admin = await api.signUp("Admin");
      ana = await api.signUp("Ana");
      berta = await api.signUp("Berta");
      const model = { name: "m", provider: "openai-compatible", externalId: "x", baseUrl: `${mock.url}/v1` };
      const json = { ...model, usesTools: true };
      modelId = ((await api.call("POST", "/api/model", { token: admin.token, json })).body as { id: string }).id;
      const made = await api.call("POST", "/api/tool", { token: admin.token, json: drive() });
      expect(made.body).toMatchObject({
        personal: true,
        tools: [],
        problem: null,
      });
      id = (made.body as { id: string }).id;
    });
    afterAll(() => api.close());

    const path = () => `/api/tool-account/${id}`;
    const back = "https://tertulia.example/user/cuentas/vuelta";
    const begin = ({ token }: Account) => api.call("POST", path(), { token, json: { redirect: back } });
    const end = ({ token }: Account, brought: URLSearchParams) =>
      api.call("POST", `${path()}/end`, { token, json: { brought: brought.toString() } });
    async function connect(person: Account, login: string) {
      const begun = await begin(person);
      expect(begun.status, begun.text).toBe(200);
      const { searchParams } = await signInThere((begun.body as { url: string }).url, back, login);
      return end(person, searchParams);
    }
    const list = async ({ token }: Account) =>
      ((await api.call("GET", "/api/tool-account", { token })).body as { items: Connected[] }).items;

    /** Answer of the server to a person's model; undefined where the model has no such tool. */
    async function asked({ token }: Account): Promise<string | undefined> {
      const content = steps([[{ name: "disco_quien", input: {} }]], "{resultado}");
      const [start] = await api.converse(token, { content, modelId });
      const messageId = start?.type === "start" ? start.messageId : "";
      const { parts } = (await api.call("GET", `/api/message/${messageId}`, { token })).body as {
        parts: { kind: string; status: string; output: string }[];
      };
      const part = parts.find(({ kind }) => kind === "tool");
      return part?.output;
    }

    it("is unavailable to models until the person connects an account", async () => {
      expect(await list(ana)).toEqual([{ id, name: "disco", usable: true, connectedAt: null, problem: null }]);
      expect(await asked(ana)).not.toContain("La cuenta de");
    });

    it("answers each of two people with what is theirs alone", async () => {
      const answer = await connect(ana, "ana-en-el-disco");
      expect(answer.body).toEqual({ id, name: "disco", usable: true, connectedAt: expect.any(String), problem: null });
      expect((await connect(berta, "berta-en-el-disco")).status).toBe(200);
      expect(await asked(ana)).toBe("La cuenta de ana-en-el-disco");
      expect(await asked(berta)).toBe("La cuenta de berta-en-el-disco");
      expect(await Promise.all([asked(ana), asked(berta), asked(ana)])).toEqual([
        "La cuenta de ana-en-el-disco",
        "La cuenta de berta-en-el-disco",
        "La cuenta de ana-en-el-disco",
      ]);
      // Whoever administers has none of their own.
      expect(await asked(admin)).not.toContain("La cuenta de");
    });

    it("refreshes an expired token for that person alone", async () => {
      const stored = async () =>
        Object.fromEntries(
          (await api.db.selectFrom("toolAccounts").select(["userId", "access"]).execute()).map((row) => [
            row.userId,
            row.access,
          ]),
        );
      const before = await stored();
      await expect
        .poll(
          async () => {
            expect(await asked(ana)).toBe("La cuenta de ana-en-el-disco");
            return (await stored())[ana.id] !== before[ana.id];
          },
          { timeout: 60_000, interval: 500 },
        )
        .toBe(true);
      expect((await stored())[berta.id]).toBe(before[berta.id]);
    });

    it("does not take one person's way back for another's", async () => {
      const begun = await begin(ana);
      const { searchParams } = await signInThere((begun.body as { url: string }).url, back, "ana-en-el-disco");
      const forged = await end(berta, searchParams);
      expect(forged.status).toBe(422);
      expect(forged.text).toContain("no se empezó aquí");
      expect(await asked(berta)).toBe("La cuenta de berta-en-el-disco");
      expect((await end(ana, searchParams)).status).toBe(200);
      expect((await end(ana, searchParams)).status).toBe(422);
    });

    it("shows an administrator the offered tools without tokens", async () => {
      await connect(admin, "quien-administra");
      const shown = await api.call("GET", `/api/tool/${id}`, { token: admin.token });
      expect(shown.body).toMatchObject({ personal: true, signedIn: false, problem: null, tools: [{ name: "quien" }] });
      expect(shown.text).not.toContain("access_token");
      const again = await api.call("POST", `/api/tool/${id}/list`, { token: admin.token });
      expect(again.body).toMatchObject({ tools: [{ name: "quien" }] });
    });

    it("keeps its tokens under another master secret", async () => {
      const keys = (secret: string) => secretKeys(secret.repeat(32));
      const { lost } = await reencrypt(api.db, keys("s"), keys("t"));
      expect(lost).toBe(0);
      await reencrypt(api.db, keys("t"), keys("s"));
      // Sessions end with it.
      for (const person of [admin, ana, berta]) {
        person.token = (await api.call("POST", "/auth/signin", { json: { email: person.email, password } })).text;
      }
      expect(await asked(ana)).toBe("La cuenta de ana-en-el-disco");
    });

    it("is ended by its person, who alone loses it", async () => {
      expect((await api.call("DELETE", path(), { token: ana.token })).status).toBe(204);
      expect((await api.call("DELETE", path(), { token: ana.token })).status).toBe(404);
      expect(await asked(ana)).not.toContain("La cuenta de");
      expect(await asked(berta)).toBe("La cuenta de berta-en-el-disco");
      expect(await list(ana)).toEqual([{ id, name: "disco", usable: true, connectedAt: null, problem: null }]);
    });

    it("stays visible when disabled and is removed with deactivated accounts", async () => {
      const put = (more: object) =>
        api.call("PUT", `/api/tool/${id}`, { token: admin.token, json: { ...drive(), ...more } });
      await put({ enabled: false });
      expect(await list(berta)).toEqual([
        expect.objectContaining({ id, usable: false, problem: "Ahora no la puedes usar." }),
      ]);
      expect(await list(ana)).toEqual([]);
      await put({});
      expect(await list(berta)).toEqual([expect.objectContaining({ id, usable: true, problem: null })]);
      const shown = await api.call("GET", `/api/tool/${id}`, { token: ana.token });
      expect(shown.body).toMatchObject({ personal: true, tools: [] });
      const carla = await api.signUp("Carla");
      await connect(carla, "carla");
      await api.call("PATCH", `/api/user/${carla.id}`, { token: admin.token, json: { status: "inactive" } });
      expect(await api.db.selectFrom("toolAccounts").where("userId", "=", carla.id).selectAll().execute()).toEqual([]);
    });

    it("takes nobody's consent along to another address", async () => {
      const moved = { ...drive(), address: "http://127.0.0.1:9/mcp" };
      expect((await api.call("PUT", `/api/tool/${id}`, { token: admin.token, json: moved })).status).toBe(200);
      expect(await list(berta)).toEqual([{ id, name: "disco", usable: true, connectedAt: null, problem: null }]);
      expect(await api.db.selectFrom("toolAccounts").selectAll().execute()).toEqual([]);
    });

    it.each([
      ["a key of the house", { secret: "clave" }, "no hay una clave de la casa"],
      ["another kind of tool", { kind: "sums", address: null }, "Solo un servidor MCP"],
    ])("is refused with %s", async (_, change, sentence) => {
      const answer = await api.call("POST", "/api/tool", { token: admin.token, json: { ...drive(), ...change } });
      expect(answer.status).toBe(422);
      expect(answer.text).toContain(sentence);
    });

    it("is not there for people who may not use it", async () => {
      const json = { ...drive(), name: "reservado", allowed: "admins" };
      const other = (await api.call("POST", "/api/tool", { token: admin.token, json })).body as { id: string };
      const begun = { token: ana.token, json: { redirect: back } };
      expect((await api.call("POST", `/api/tool-account/${other.id}`, begun)).status).toBe(404);
      expect((await list(ana)).map(({ name }) => name)).toEqual(["disco"]);
      expect((await list(admin)).map(({ name }) => name)).toEqual(["disco", "reservado"]);
    });
  });
}
