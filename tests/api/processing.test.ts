import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";

for (const engine of await ruleEngines()) {
  describe(`the record of processing on ${engine.name}`, () => {
    let api: Api;
    let admin: Account;
    beforeAll(async () => {
      api = await openApi(engine);
      admin = await api.signUp("Admin");
    });
    afterAll(() => api.close());
    const made = async (path: string, json: object) => {
      const answer = await api.call("POST", path, { token: admin.token, json });
      if (answer.status !== 201) throw new Error(answer.text);
      return (answer.body as { id: string }).id;
    };

    it("lists stored data, retention, recipients and security without API keys", async () => {
      await api.converse(admin.token, { content: "Hola" });
      const group = await made("/api/group", { name: "Legal" });
      const outside = { provider: "openai-compatible", externalId: "x", baseUrl: "https://ia.ejemplo.es/v1" };
      await made("/api/model", { ...outside, name: "De fuera", pseudonyms: true, groupIds: [group] });
      await made("/api/model", { ...outside, name: "De casa", baseUrl: "http://127.0.0.1:8080/v1" });
      await made("/api/model", { provider: "anthropic", name: "Claude", externalId: "claude", apiKey: "clave" });
      await made("/api/retention", { kind: "chats", days: 365 });
      await made("/api/retention", { kind: "chats", days: 30, groupId: group });
      const { body, text } = await api.call("GET", "/api/system/processing", { token: admin.token });
      const { controller, kept, recipients, security } = body as {
        controller: object;
        kept: { kind: string; count: number; rules: { days: number; group: string | null }[] }[];
        recipients: { name: string }[];
        security: object;
      };
      expect(controller).toEqual({ name: "Asociación Ejemplo", contact: null, dataProtectionOfficer: null });
      expect(kept.find(({ kind }) => kind === "messages")).toMatchObject({
        count: 2,
        rules: [
          { days: 30, group: "Legal" },
          { days: 365, group: null },
        ],
      });
      const named = (name: string) => recipients.find((one) => one.name === name);
      expect(named("De fuera")).toMatchObject({ host: "ia.ejemplo.es", pseudonyms: true, groups: ["Legal"] });
      expect(named("De casa")).toMatchObject({ host: null, pseudonyms: false, groups: null });
      expect(named("Claude")).toMatchObject({ host: "api.anthropic.com" });
      expect(security).toMatchObject({ https: true, passwords: true, administrators: 1, withSecondStep: 0, terms: [] });
      expect(text).not.toContain("clave");
    });
  });
}
