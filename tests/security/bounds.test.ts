import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { mediaTypeOf } from "../../app/files/media-type.server.ts";
import { MultipartError, readMultipart } from "../../app/http/multipart.server.ts";
import { renderMarkdown } from "../../app/markdown/render.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";
import { startModelServer } from "../support/model-server.ts";

describe("a text that is made to take for ever", () => {
  // Each took minutes to hours before its guard; the test's own time is the bound.
  it.each([
    ["formulas that never end", "\\(".repeat(200_000)],
    ["formulas whose end is escaped", `${"\\(".repeat(200_000)}\\\\)`],
    ["blocks of formulas that never end", "\\[\n".repeat(100_000)],
    ["blocks that end in the middle of a line", `${"\\[\n".repeat(100_000)}\\] x`],
    ["code that no grammar likes", `\`\`\`java\n${"$a".repeat(10_000)}\n\`\`\`\n`.repeat(20)],
    ["formulas in sentences that never end", "\\[a b ".repeat(100_000)],
    ["formulas in sentences with one end", `${"\\[a b ".repeat(100_000)}\\]`],
    ["dollars", "$x \\$".repeat(100_000)],
    ["pairs of dollars", "$$ a b\n".repeat(50_000)],
    ["blanks beside a table", `$|${" ".repeat(200_000)}\n|-|${" ".repeat(200_000)}x`],
    ["notes that nobody wrote", "[^1] ".repeat(100_000)],
    ["notes that nobody calls", "[^1]: a\n".repeat(20_000)],
    ["emphasis that begins and ends everywhere", "**a:**b«".repeat(20_000)],
  ])("of %s is shown (guards: endsOf, linesAtMost, highlightInAll)", (_what, text) => {
    expect(renderMarkdown(text).length).toBeGreaterThan(1000);
  });

  it("of comments alone is distinguished from SVG (guard: withoutComments)", async () => {
    const dir = mkdtempSync(join(tmpdir(), "tertulia-"));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    const path = join(dir, "nota.txt");
    writeFileSync(path, "<!---->".repeat(1000));
    expect(await mediaTypeOf(path, "nota.txt", 7000)).toBe("text/plain");
    writeFileSync(path, `<?xml version="1.0"?>${"<!-- a -->\n".repeat(100)}<svg xmlns="x">`);
    await expect(mediaTypeOf(path, "nota.txt", 7000)).rejects.toThrow("SVG");
  });
});

describe("an upload", () => {
  const part = (body: ReadableStream<Uint8Array>) =>
    new Request("http://api/", {
      method: "POST",
      headers: { "Content-Type": "multipart/form-data; boundary=x" },
      body,
      duplex: "half",
    } as RequestInit);
  const head = `--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n`;

  it("without length is stored up to its limit (guard: maxFile)", async () => {
    const piece = new Uint8Array(1_000_000).fill(65);
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (sent === 0) controller.enqueue(new TextEncoder().encode(head));
        if (sent++ < 50) return controller.enqueue(piece);
        controller.enqueue(new TextEncoder().encode("\r\n--x--\r\n"));
        controller.close();
      },
    });
    const read = await readMultipart(part(body), { maxFields: 10, maxFile: 3_000_000, by: "ana" });
    expect(read.files[0]?.size).toBe(50_000_000);
    expect(statSync(read.files[0]?.path ?? "").size).toBeLessThan(5_000_000);
    await read.discard();
  });

  it("is limited to ten at once per person (guard: ConcurrencyLimit)", async () => {
    const open: ReadableStreamDefaultController<Uint8Array>[] = [];
    const begin = (by: string) => {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          open.push(controller);
          controller.enqueue(new TextEncoder().encode(head));
        },
      });
      return readMultipart(part(body), { maxFields: 10, maxFile: 1000, by });
    };
    const waiting = Array.from({ length: 10 }, () => begin("berta"));
    await expect(begin("berta")).rejects.toEqual(new MultipartError("many"));
    const other = begin("carla");
    for (const controller of open) {
      controller.enqueue(new TextEncoder().encode("Hola\r\n--x--\r\n"));
      controller.close();
    }
    for (const { discard } of await Promise.all([...waiting, other])) await discard();
    const again = begin("berta");
    open.at(-1)?.enqueue(new TextEncoder().encode("Hola\r\n--x--\r\n"));
    open.at(-1)?.close();
    await (await again).discard();
  });
});

for (const engine of await ruleEngines()) {
  describe(`a person on ${engine.name}`, () => {
    let models: LLMock;
    let api: Api;
    let admin: Account;
    let modelId: string;
    beforeAll(async () => {
      models = await startModelServer();
      api = await openApi(engine);
      admin = await api.signUp("Admin");
      const json = { name: "Uno", provider: "openai-compatible", externalId: "gpt-4o", baseUrl: `${models.url}/v1` };
      modelId = ((await api.call("POST", "/api/model", { token: admin.token, json })).body as { id: string }).id;
    });
    afterAll(async () => {
      await api.close();
      await models.stop();
    });

    it("is limited to sixteen replies at once (guard: refuseTooMany)", async () => {
      const { token } = await api.signUp("Ana");
      for (let n = 0; n < 16; n++) await api.start(token, { content: `Una respuesta lenta ${n}`, modelId });
      const json = { content: "Una respuesta lenta más", modelId };
      const refused = await api.call("POST", "/api/intelligence/conversation", { token, json });
      expect([refused.status, (refused.body as { detail: string }).detail]).toEqual([
        429,
        "Ya se están escribiendo 16 respuestas tuyas. Espera a que termine alguna.",
      ]);
      const { token: other } = await api.signUp("Berta");
      expect((await api.start(other, { content: "Hola", modelId })).type).toBe("start");
    });

    it("keeps temporary files from other sessions and keys (guard: ofSession)", async () => {
      const ana = await api.signUp("Ana");
      const sent = await api.upload(ana.token, [new File(["Secreto"], "secreto.txt")], { temporary: "1" });
      const [{ id = "" } = {}] = (sent.body as { items: { id: string }[] }).items;
      await api.converse(ana.token, { content: "Mira", fileIds: [id], temporary: true });
      expect((await api.call("GET", `/api/file/${id}`, { token: ana.token })).status).toBe(200);
      const made = await api.call("POST", "/api/key", { token: ana.token, json: { name: "uno", scope: "read" } });
      const { token: key } = made.body as { token: string };
      for (const token of [key, admin.token]) {
        expect((await api.call("GET", `/api/file/${id}`, { token })).status).toBe(404);
        expect((await api.call("GET", `/api/file/${id}/content`, { token })).status).toBe(404);
        expect((await api.call("GET", "/api/file", { token })).text).not.toContain(id);
      }
    });

    it.each([
      ["/api/training", "PATCH", { title: "Tono", kind: "instruction", content: "Sé breve." }],
      ["/api/project", "PUT", { name: "Tesis" }],
      ["/api/chat", "PATCH", { title: "Uno" }],
      ["/api/message", "PATCH", { content: "Uno" }],
    ])("changes %s twice at once, but one fails (guard: ifUnchanged)", async (path, method, json) => {
      const { token } = admin;
      const chatId =
        path === "/api/message" &&
        ((await api.call("POST", "/api/chat", { token, json: {} })).body as { id: string }).id;
      const made = await api.call("POST", path, { token, json: chatId ? { ...json, chatId } : json });
      const { id, updatedAt } = made.body as { id: string; updatedAt: string };
      const change = () =>
        api.call(method, `${path}/${id}`, { token, json, headers: { "If-Match": `"${updatedAt}"` } });
      const both = await Promise.all([change(), change()]);
      expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    });
  });
}
