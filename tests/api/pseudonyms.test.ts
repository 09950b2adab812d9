import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findIdentifiers } from "../../app/replies/pseudonyms/identifiers.server.ts";
import { Pseudonyms } from "../../app/replies/pseudonyms/pseudonyms.server.ts";
import { type Account, type Api, openApi, textOf } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";
import { identifiers } from "../support/identifiers.ts";

describe("2,000 identifiers", () => {
  const all = identifiers(2000);

  it("are hidden exactly when the check digits are valid", async () => {
    expect(all).toHaveLength(2000);
    const wrong: string[] = [];
    for (const { kind, written, isValid } of all) {
      const text = `Me llamo Ana y esto es lo mío: ${written}, para lo que haga falta.`;
      const found = await findIdentifiers(text);
      const whole = found.some(({ start, end }) => text.slice(start, end) === written);
      const right = isValid ? whole && found.length === 1 && found[0]?.kind === kind : found.length === 0;
      if (!right)
        wrong.push(
          `${kind} ${isValid} ${written} → ${found.map((one) => `${one.kind} ${text.slice(one.start, one.end)}`)}`,
        );
    }
    expect(wrong).toEqual([]);
  });

  it("are restored in streams cut at any character", async () => {
    const valid = all.filter(({ isValid }) => isValid).map(({ written }) => written);
    const pseudonyms = new Pseudonyms(valid);
    for (const written of valid) {
      const text = `Dice: «${written}». [1] y [fin`;
      const hidden = await pseudonyms.hide(text);
      expect(hidden).not.toContain(written);
      for (let cut = 0; cut <= hidden.length; cut++) {
        const restorer = pseudonyms.restorer();
        const said = restorer.feed(hidden.slice(0, cut)) + restorer.feed(hidden.slice(cut)) + restorer.end();
        if (pseudonyms.restore(hidden) !== said) expect([cut, said]).toEqual([cut, text]);
      }
    }
    const long = await pseudonyms.hide(valid.slice(0, 50).join(" y "));
    const restorer = pseudonyms.restorer();
    expect([...long].map((character) => restorer.feed(character)).join("") + restorer.end()).toBe(
      pseudonyms.restore(long),
    );
  });
});

describe("texts", () => {
  const hide = async (text: string) => new Pseudonyms([text]).hide(text);
  it.each([
    ["Llámame al 612 345 678 a las 10", "Llámame al [TELÉFONO 1] a las 10"],
    ["(+34) 912 345 678 o +52 55 1234 5678.", "[TELÉFONO 1] o [TELÉFONO 2]."],
    ["ana@ejemplo.es, ANA@ejemplo.es; luis.r@correo.com.ar", "[CORREO 1], [CORREO 1]; [CORREO 2]"],
    ["DNI 12.345.678-Z y 12345678z", "DNI [DNI 1] y [DNI 1]"],
    ["Ya puse [DNI 4]: 12345678Z", "Ya puse [DNI 4]: [DNI 5]"],
    ["La tarjeta 4111 1111 1111 1111 12/27", "La tarjeta [TARJETA 1] 12/27"],
    ["El IBAN ES91 2100 0418 4502 0005 1332 y más", "El IBAN [IBAN 1] y más"],
    ["Costó 612345678,50 euros el 12.03.2026 a las 10:30", "Costó 612345678,50 euros el 12.03.2026 a las 10:30"],
    [
      "El pedido 2026-000123, la página 345 y https://a.es/b/612",
      "El pedido 2026-000123, la página 345 y https://a.es/b/612",
    ],
    ["const n = 1234567890123; // 0x612345678", "const n = 1234567890123; // 0x612345678"],
  ])("%s", async (text, hidden) => {
    expect(await hide(text)).toBe(hidden);
  });

  it("do not block the server even when huge", async () => {
    let turns = 0;
    const watch = setInterval(() => turns++, 1);
    await findIdentifiers("612 34 56 7 A1 ".repeat(15_000));
    clearInterval(watch);
    expect(turns).toBeGreaterThan(5);
    // A text without candidates is looked through at once: with time that grows by the square, this does not end.
    await findIdentifiers("a".repeat(2_000_000));
    await findIdentifiers(`${"a.".repeat(200_000)}@`);
    await findIdentifiers("1".repeat(500_000));
    await findIdentifiers("[".repeat(500_000));
  });
});

for (const engine of await ruleEngines()) {
  describe(`a model with pseudonyms on ${engine.name}`, () => {
    let api: Api;
    let admin: Account;
    let modelId: string;
    /** Requests to the model, and its server: it says again what it was told, a character at a time. */
    const came: string[] = [];
    const echo = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      came.push(body);
      const { messages } = JSON.parse(body || "{}") as { messages?: { content: string }[] };
      const said = `Eco: ${messages?.at(-1)?.content}`;
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      for (const character of said) {
        response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: character } }] })}\n\n`);
      }
      const end = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
      response.end(`data: ${JSON.stringify(end)}\n\ndata: [DONE]\n\n`);
    });
    beforeAll(async () => {
      await new Promise<void>((resolve) => echo.listen(0, "127.0.0.1", resolve));
      api = await openApi(engine);
      admin = await api.signUp("Admin");
      const baseUrl = `http://127.0.0.1:${(echo.address() as AddressInfo).port}/v1`;
      const json = { name: "Eco", provider: "openai-compatible", externalId: "eco", baseUrl, pseudonyms: true };
      modelId = ((await api.call("POST", "/api/model", { token: admin.token, json })).body as { id: string }).id;
    });
    afterAll(async () => {
      await api.close();
      echo.close();
    });

    it("receives pseudonyms everywhere while people read the original text", async () => {
      const secret = "12345678Z";
      const first = await api.converse(admin.token, { content: `Mi DNI es ${secret}`, modelId });
      const [start] = first;
      if (start?.type !== "start") throw new Error("no start");
      expect(textOf(first)).toBe(`Eco: Mi DNI es ${secret}`);
      const { chatId } = start;
      expect(textOf(await api.converse(admin.token, { content: "¿Y ana@ejemplo.es?", chatId }))).toBe(
        "Eco: ¿Y ana@ejemplo.es?",
      );
      const program = { model: "Eco", messages: [{ role: "user", content: `Es ${secret}` }] };
      const answer = await api.call("POST", "/chat/completions", { token: admin.token, json: program });
      expect(answer.text).toContain(`Eco: Es ${secret}`);
      expect(came.length).toBeGreaterThanOrEqual(3);
      expect(came.join("\n")).not.toContain(secret);
      expect(came.join("\n")).not.toContain("ana@ejemplo.es");
      expect(came.join("\n")).toContain("[DNI 1]");
      const sent = await api.call("GET", `/api/message/${start.messageId}/prompt`, { token: admin.token });
      expect(sent.text).toContain("Mi DNI es [DNI 1]");
      expect(sent.text).not.toContain(secret);
    });
  });
}
