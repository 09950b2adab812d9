import { createHash, randomBytes } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApi } from "../../app/api/api.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";

const back = "http://127.0.0.1/vuelta";
type Token = { access_token: string; refresh_token: string; expires_in: number };

for (const engine of await ruleEngines()) {
  describe(`programs that connect by OAuth on ${engine.name}`, () => {
    let api: Api;
    let ana: Account;
    let clientId: string;
    beforeAll(async () => {
      api = await openApi(engine);
      await api.signUp("Admin");
      ana = await api.signUp("Ana");
      clientId = await register();
    });
    afterAll(() => api.close());

    async function register(redirect_uris = [back]): Promise<string> {
      const answer = await api.call("POST", "/auth/oauth/register", { json: { redirect_uris, client_name: "Editor" } });
      expect(answer.status).toBe(201);
      return (answer.body as { client_id: string }).client_id;
    }

    const verifier = randomBytes(32).toString("base64url");
    const consented = async ({ token } = ana) => {
      const code_challenge = createHash("sha256").update(verifier).digest("base64url");
      const json = { client_id: clientId, redirect_uri: back, code_challenge, scope: "write" };
      const answer = await api.call("POST", "/auth/oauth/consent", { token, json });
      expect(answer.status).toBe(201);
      return (answer.body as { code: string }).code;
    };
    const form = async (path: string, fields: Record<string, string>) => {
      const body = new URLSearchParams(fields);
      const answer = await api.fetch(`/auth/oauth/${path}`, "", { method: "POST", body });
      const text = await answer.text();
      return { status: answer.status, body: (text ? JSON.parse(text) : undefined) as never };
    };
    const exchange = (code: string, change: Record<string, string> = {}) =>
      form("token", {
        ...{ grant_type: "authorization_code", client_id: clientId, redirect_uri: back, code_verifier: verifier, code },
        ...change,
      });
    const connect = async (): Promise<Token> => (await exchange(await consented())).body;
    const renew = (refresh_token: string, change: Record<string, string> = {}) =>
      form("token", { grant_type: "refresh_token", client_id: clientId, refresh_token, ...change });
    const errorOf = ({ status, body }: { status: number; body: never }) => [status, (body as { error: string }).error];

    /** Status of a call with a token, as /mcp makes it. */
    const byMcp = async (token: string) => {
      const call = new Request("http://api/api/chat", { headers: { Authorization: `Bearer ${token}` } });
      return (await createApi(api.services).fetch(call, { ip: "127.0.0.1", ofMcp: true })).status;
    };

    it("gives a key that works for /mcp only", async () => {
      const { access_token, expires_in } = await connect();
      expect(await byMcp(access_token)).toBe(200);
      expect(expires_in).toBe(3600);
      expect((await api.call("GET", "/api/chat", { token: access_token })).status).toBe(401);
      expect((await api.call("GET", "/models", { token: access_token })).status).toBe(401);
    });

    it("has stored nothing that opens a door", async () => {
      const { access_token, refresh_token } = await connect();
      const rows = JSON.stringify(await api.db.selectFrom("apiKeys").selectAll().execute());
      for (const secret of [access_token, refresh_token, clientId]) expect(rows).not.toContain(secret.slice(10));
    });

    it("ends the connection whose code comes twice", async () => {
      const code = await consented();
      const { access_token } = (await exchange(code)).body as Token;
      expect(errorOf(await exchange(code))).toEqual([400, "invalid_grant"]);
      expect(await byMcp(access_token)).toBe(401);
    });

    it.each([
      ["another verifier", { code_verifier: randomBytes(32).toString("base64url") }, "invalid_grant"],
      ["no verifier", { code_verifier: "" }, "invalid_grant"],
      ["another way back", { redirect_uri: "http://127.0.0.1/otra" }, "invalid_grant"],
      ["a program that is not known", { client_id: "otro" }, "invalid_client"],
      ["another house", { resource: "https://otra.example/mcp" }, "invalid_target"],
      ["a password", { grant_type: "password" }, "unsupported_grant_type"],
    ])("gives nothing for a code with %s", async (_, change, error) => {
      expect(errorOf(await exchange(await consented(), change))).toEqual([400, error]);
    });

    it("renews a key once per refresh token", async () => {
      const first = await connect();
      const answer = await renew(first.refresh_token, { resource: "http://api/mcp" });
      const second = answer.body as Token;
      expect(await byMcp(second.access_token)).toBe(200);
      expect(await byMcp(first.access_token)).toBe(401);
      expect(errorOf(await renew(first.refresh_token))).toEqual([400, "invalid_grant"]);
      expect(errorOf(await renew(second.refresh_token, { client_id: await register() }))).toEqual([
        400,
        "invalid_grant",
      ]);
    });

    it("ends a connection on refresh token reuse or old age", async () => {
      const move = (ms: number) => {
        const past = (column: string) => sql<number>`${sql.ref(column)} - ${ms}`;
        return api.db
          .updateTable("apiKeys")
          .set({ expiresAt: past("expiresAt"), createdAt: past("createdAt") })
          .execute();
      };
      const first = await connect();
      const second = (await renew(first.refresh_token)).body as Token;
      await move(2 * 60_000);
      expect(errorOf(await renew(first.refresh_token))).toEqual([400, "invalid_grant"]);
      expect(await byMcp(second.access_token)).toBe(401);
      const old = await connect();
      await move(181 * 24 * 60 * 60_000);
      expect(errorOf(await renew(old.refresh_token))).toEqual([400, "invalid_grant"]);
    });

    it("gives only one of two simultaneous renewals a key", async () => {
      const { refresh_token } = await connect();
      const answers = await Promise.all([renew(refresh_token), renew(refresh_token)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    });

    it("expires a key after its hour and an unused code", async () => {
      const { access_token } = await connect();
      await api.db
        .updateTable("apiKeys")
        .set({ expiresAt: Date.now() - 1000 })
        .execute();
      expect(await byMcp(access_token)).toBe(401);
      const code = await consented();
      await api.db
        .updateTable("apiKeys")
        .set({ expiresAt: Date.now() - 1000 })
        .execute();
      expect(errorOf(await exchange(code))).toEqual([400, "invalid_grant"]);
    });

    it("is revoked by the program, leaving personal keys alone", async () => {
      const { access_token, refresh_token } = await connect();
      const made = await api.call("POST", "/api/key", { token: ana.token, json: { name: "Mía", scope: "read" } });
      const own = (made.body as { token: string }).token;
      for (const token of [refresh_token, own, "nada"]) expect((await form("revoke", { token })).status).toBe(200);
      expect(await byMcp(access_token)).toBe(401);
      expect(await byMcp(own)).toBe(200);
    });

    it("lists a program once, only after it fetches its key", async () => {
      const berta = await api.signUp("Berta");
      const listed = async () =>
        ((await api.call("GET", "/api/key", { token: berta.token })).body as { items: object[] }).items;
      await consented(berta);
      expect(await listed()).toEqual([]);
      await exchange(await consented(berta));
      await exchange(await consented(berta));
      expect(await listed()).toEqual([expect.objectContaining({ name: "Editor", connected: true, scope: "write" })]);
    });

    it("describes a private scheme as a program on the device", async () => {
      const redirect_uri = "com.example.editor://claude.ai/api";
      const client_id = await register([redirect_uri]);
      const query = new URLSearchParams({ client_id, redirect_uri });
      const shown = await api.call("GET", `/auth/oauth/consent?${query}`, { token: ana.token });
      expect(shown.body).toEqual({ name: "Editor", host: "com.example.editor: (un programa de este dispositivo)" });
    });

    it("cleans the program's name and refuses NUL or oversized addresses", async () => {
      const json = { redirect_uris: [back], client_name: "Edi\u202Etor\nde\u0000 casa" };
      const made = (await api.call("POST", "/auth/oauth/register", { json })).body as { client_name: string };
      expect(made.client_name).toBe("Editor de casa");
      const nul = {
        client_id: clientId,
        redirect_uri: "http://127.0.0.1/\0a",
        code_challenge: "a".repeat(43),
        scope: "read",
      };
      expect((await api.call("POST", "/auth/oauth/consent", { token: ana.token, json: nul })).status).toBe(422);
      const many = { redirect_uris: Array.from({ length: 10 }, (_, n) => `https://e.example/${n}${"a".repeat(470)}`) };
      expect((await api.call("POST", "/auth/oauth/register", { json: many })).status).toBe(400);
    });

    it("answers invalid forms with OAuth errors, notifies of ended connections", async () => {
      expect(errorOf(await form("token", {}))).toEqual([400, "invalid_request"]);
      const code = await consented();
      await exchange(code);
      const told: string[] = [];
      const { tell } = api.services.changes;
      api.services.changes.tell = (change) => {
        told.push(change.what);
        tell.call(api.services.changes, change);
      };
      await exchange(code);
      api.services.changes.tell = tell;
      expect(told).toEqual(expect.arrayContaining(["sessions", "key"]));
    });

    it("keeps the old connection until the next key is fetched", async () => {
      const { access_token } = await connect();
      await consented();
      expect(await byMcp(access_token)).toBe(200);
      await connect();
      expect(await byMcp(access_token)).toBe(401);
    });

    it("gives no program the right to connect another", async () => {
      const { access_token } = await connect();
      const made = await api.call("POST", "/api/key", { token: ana.token, json: { name: "Otra", scope: "write" } });
      const query = new URLSearchParams({ client_id: clientId, redirect_uri: back });
      for (const token of [access_token, (made.body as { token: string }).token]) {
        expect((await api.call("GET", `/auth/oauth/consent?${query}`, { token })).status).toBeGreaterThanOrEqual(401);
      }
    });

    it.each([
      ["https://editor.example/vuelta", 201],
      ["http://localhost:3000/", 201],
      ["cursor://anysphere.cursor-retrieval/oauth/callback", 201],
      ["http://editor.example/", 400],
      ["javascript:alert(1)", 400],
      ["data:text/html,hola", 400],
      ["https://editor.example/#parte", 400],
      ["https://ana@editor.example/", 400],
      ["vuelta", 400],
      ["com.example.editor:/vuelta", 201],
      ["vscode://editor/vuelta", 201],
      ["malo://claude.ai/api", 400],
      ["intent://claude.ai/#Intent;end", 400],
      ["view-source:https://editor.example/", 400],
      ["mailto:ana@editor.example", 400],
    ])("registers a program that comes back to %s with %i", async (address, status) => {
      const answer = await api.call("POST", "/auth/oauth/register", { json: { redirect_uris: [address] } });
      expect(answer.status).toBe(status);
      if (status === 400) expect(answer.body).toMatchObject({ error: "invalid_redirect_uri" });
    });
  });
}
