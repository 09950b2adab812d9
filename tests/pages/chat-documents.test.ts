import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readText } from "../../app/files/formats/read.server.ts";
import { officeTypes } from "../../app/markdown/documents/make-document.server.ts";
import { officeDocumentOf } from "../../app/routes/conversation/chat/office-document.server.ts";
import { Browser } from "../support/browser.ts";
import { startServer, type TestServer } from "../support/server.ts";

let server: TestServer;
let ana: Browser;
let chat: string;
beforeAll(async () => {
  server = await startServer();
  ana = new Browser(server.url);
  await ana.signUp();
  chat = await ana.say("Primera pregunta");
  await ana.html(chat);
  await ana.say("Segunda pregunta", chat);
});
afterAll(() => server.stop());

describe.each(["docx", "odt"] as const)("a chat as %s", (format) => {
  const download = (browser: Browser, more = "") => browser.fetch(`${chat}/descargar?formato=${format}${more}`);
  const textOf = async (answer: Response) => {
    const read = await readText(Buffer.from(await answer.arrayBuffer()), officeTypes[format], 100_000);
    return "text" in read ? read.text : "";
  };

  it("has all that was said, under its name", async () => {
    const answer = await download(ana);
    expect(answer.headers.get("Content-Type")).toBe(officeTypes[format]);
    expect(answer.headers.get("Content-Disposition")).toMatch(new RegExp(`\\.${format}"; .*\\.${format}$`));
    expect(await textOf(answer)).toMatch(/Primera pregunta[\s\S]*Asistente local[\s\S]*Segunda pregunta/);
  });

  it("is one reply alone where that is asked", async () => {
    const [, reply = ""] = /exportar\?mensaje=([\w-]+)/.exec(await ana.html(chat)) ?? [];
    const text = await textOf(await download(ana, `&mensaje=${reply}`));
    expect(text).toContain("Asistente local");
    expect(text).not.toContain("## Tú");
    expect((await download(ana, "&mensaje=no-existe")).status).toBe(404);
  });

  it("is nobody else's", async () => {
    const bea = new Browser(server.url);
    await bea.signUp("Bea");
    expect((await download(bea)).status).toBe(404);
  });
});

it("is the branch that is shown, without other versions", () => {
  const message = (id: string, parentId: string | null, role: string) => ({
    ...{ id, parentId, role, model: null, content: id, attachments: [] },
    createdAt: "2025-03-03T10:00:00.000Z",
  });
  const messages = [message("a", null, "user"), message("b", "a", "assistant"), message("c", "a", "assistant")];
  const chat = { title: "T", aiNotice: "", leafId: "b", messages };
  const shown = officeDocumentOf(chat, "odt", null, { author: "", timeZone: "Europe/Madrid" })?.turns;
  expect(shown?.map(({ markdown }) => markdown)).toEqual(["a", "b"]);
  expect(shown?.[0]?.when).toBe("3 de marzo de 2025 a las 11:00");
});
