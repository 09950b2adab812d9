import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Browser, hiddenFields, readable } from "../support/browser.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { recording, silentMp3 } from "../support/sounds.ts";

let server: TestServer;
let voices: LLMock;
let admin: Browser;
beforeAll(async () => {
  voices = new LLMock({ port: 0 });
  voices.onTranscription({ transcription: { text: "Compra habas." } });
  voices.onSpeech(/.*/, { audio: silentMp3.toString("base64"), format: "mp3" });
  await voices.start();
  server = await startServer();
  admin = new Browser(server.url);
  await admin.signUp("Admin");
});
afterAll(async () => {
  await server.stop();
  await voices.stop();
});

const addModel = async (kind: string) => {
  const fields = { name: kind, kind, externalId: "uno", voice: "", baseUrl: `${voices.url}/v1`, enabled: "true" };
  const answer = await admin.change("/admin/voice-model/crear", fields);
  expect(answer.status, readable(await answer.clone().text())).toBe(303);
};

async function dictate(browser: Browser, bytes: Uint8Array<ArrayBuffer>, content: string): Promise<Response> {
  const body = new FormData();
  const page = "/conversation/chat";
  for (const [name, value] of Object.entries(hiddenFields(await browser.html(page), page))) body.append(name, value);
  body.append("content", content);
  body.append("intent", "dictate");
  body.append("audio", new File([bytes], "dictado.wav"));
  return browser.fetch(page, { method: "POST", body });
}
const composer = (html: string) => /<textarea[^>]*name="content"[^>]*>([^<]*)</.exec(html)?.[1]?.trim();

it("offers no dictation or listening until a model supports it", async () => {
  const browser = new Browser(server.url);
  await browser.signUp();
  expect(await browser.html("/conversation/chat")).not.toContain("Dictar");
  const chat = await browser.say("Hola");
  await expect.poll(() => browser.html(chat)).toContain('data-role="assistant" data-status="complete"');
  expect(await browser.html(chat)).not.toContain("Escuchar");
});

it("dictates without script, appending the transcription to the draft", async () => {
  await addModel("transcription");
  const browser = new Browser(server.url);
  await browser.signUp();
  expect(await browser.html("/conversation/chat")).toMatch(/<input[^>]*name="audio"[^>]*>/);
  const answer = await dictate(browser, recording, "Para mañana:");
  expect(answer.status).toBe(200);
  expect(composer(await answer.text())).toBe("Para mañana: Compra habas.");
  // On another page, or another device, too.
  expect(composer(await browser.html("/conversation/chat"))).toBe("Para mañana: Compra habas.");
});

it("refuses an unusable recording with a reason, keeping the text", async () => {
  const browser = new Browser(server.url);
  await browser.signUp();
  const answer = await dictate(browser, new TextEncoder().encode("No es sonido, es texto."), "Lo escrito");
  const html = await answer.text();
  expect(answer.status).toBe(422);
  expect(readable(html)).toContain("La grabación no es de un tipo que se escuche aquí");
  expect(composer(html)).toBe("Lo escrito");
});

it("plays a reply aloud without script, on its own page", async () => {
  await addModel("speech");
  const browser = new Browser(server.url);
  await browser.signUp();
  const chat = await browser.say("Hola");
  await expect.poll(() => browser.html(chat)).toContain("Escuchar");
  const link = new RegExp(`href="(${chat}/escuchar/[^"]+)"`).exec(await browser.html(chat))?.[1] ?? "";
  const page = await browser.html(link);
  const sound = /<audio[^>]*preload="none"[^>]*src="([^"]+)"/.exec(page)?.[1] ?? "";
  const answer = await browser.fetch(sound, { headers: { Range: "bytes=0-99" } });
  expect([answer.status, answer.headers.get("Content-Type")]).toEqual([206, "audio/mpeg"]);
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(silentMp3.subarray(0, 100));
});
