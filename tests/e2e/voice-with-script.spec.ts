import { LLMock } from "@copilotkit/aimock";
import { Browser } from "../support/browser.ts";
import { silentMp3 } from "../support/sounds.ts";
import { expect, test } from "./fixtures.ts";

test.use({
  launchOptions: async ({ launchOptions }, use) => {
    const fake = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"];
    await use({ ...launchOptions, args: [...(launchOptions.args ?? []), ...fake] });
  },
});

test("inserts dictated text at the cursor and keeps the focus", async ({ page, server, person }) => {
  expect(person.email).toBeTruthy();
  const voices = new LLMock({ port: 0 });
  voices.onTranscription({ transcription: { text: "compra habas" } });
  voices.onSpeech(/.*/, { audio: silentMp3.toString("base64"), format: "mp3" });
  await voices.start();
  const admin = new Browser(server.url);
  await admin.signIn(server.adminEmail);
  const fields = { name: "Oído", kind: "transcription", externalId: "uno", voice: "", enabled: "true" };
  await admin.change("/admin/voice-model/crear", { ...fields, baseUrl: `${voices.url}/v1` });

  await page.goto("/conversation/chat");
  const message = page.getByLabel("Mensaje", { exact: true });
  await message.fill("Mañana, y guisantes");
  await message.press("Home");
  for (let n = 0; n < "Mañana,".length; n++) await message.press("ArrowRight");
  await page.getByRole("button", { name: "Dictar" }).click();
  await page.getByRole("button", { name: "Parar", exact: true }).click();
  await expect(message).toHaveValue("Mañana, compra habas y guisantes");
  await expect(message).toBeFocused();
  await voices.stop();
});
