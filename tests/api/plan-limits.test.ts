import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { momentInWords } from "../../app/process/time-zones.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { queryEngines } from "../support/engines.ts";

for (const engine of await queryEngines()) {
  describe(`at a plan's limit on ${engine.name}`, () => {
    let api: Api;
    let ana: Account;
    beforeAll(async () => {
      api = await openApi(engine);
      const admin = await api.signUp("Admin");
      ana = await api.signUp("Ana");
      const json = { userId: ana.id, plan: "gratis", startsAt: new Date().toISOString(), messagesPerDay: 1 };
      await api.call("POST", "/api/subscription", { token: admin.token, json });
    });
    afterAll(() => api.close());

    it("keeps a refused message as a draft and says so", async () => {
      const { token } = ana;
      const start = (await api.converse(token, { content: "Uno" })).find((chunk) => chunk.type === "start");
      const again = (json: object, headers = {}) =>
        api.call("POST", "/api/intelligence/conversation", { token, json, headers });
      const refused = await again(
        { chatId: start?.chatId, content: "Dos, que no cabe" },
        { "Time-Zone": "Europe/Madrid" },
      );
      expect(refused.status).toBe(429);
      const seconds = Number(refused.headers.get("Retry-After"));
      const resets = Date.parse(`${new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)}T00:00:00Z`);
      expect(Math.abs(Date.now() + seconds * 1000 - resets)).toBeLessThan(60_000);
      const when = momentInWords(resets, Date.now(), "Europe/Madrid");
      expect((refused.body as { detail: string }).detail).toBe(
        `Has usado el mensaje de hoy. Podrás seguir ${when}; tu mensaje queda guardado como borrador.`,
      );
      const chat = await api.call("GET", `/api/chat/${start?.chatId}`, { token });
      expect((chat.body as { draft: { content: string } }).draft.content).toBe("Dos, que no cabe");
      await again({ content: "Tres, en una nueva" });
      const { user } = (await api.call("GET", "/auth/session", { token })).body as {
        user: { draft: { content: string } };
      };
      expect(user.draft.content).toBe("Tres, en una nueva");
      const edit = await again({ chatId: start?.chatId, content: "Cuatro", keepDraft: true });
      expect((edit.body as { detail: string }).detail).not.toContain("guardado");
    });
  });
}

describe("a moment in words", () => {
  const at = Date.parse("2026-12-01T00:00:00Z");
  it.each([
    ["2026-11-30T10:00:00Z", "UTC", "mañana a las 0:00 (UTC)"],
    ["2026-11-30T10:00:00Z", "Europe/Madrid", "mañana a la 1:00"],
    ["2026-11-30T10:00:00Z", "America/Bogota", "hoy a las 19:00"],
    ["2026-11-10T10:00:00Z", "Europe/Madrid", "el 1 de diciembre a la 1:00"],
  ])("seen at %s in %s is «%s»", (now, zone, words) => {
    expect(momentInWords(at, Date.parse(now), zone)).toBe(words);
  });
});
