import { createPublicKey, verify } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { markOf } from "../../app/api/receipts/receipt.server.ts";
import { Browser, readable } from "../support/browser.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { says, startWritingModel } from "../support/writing-model.ts";

let server: TestServer;
let models: Awaited<ReturnType<typeof startWritingModel>>;
let ana: Browser;
beforeAll(async () => {
  models = await startWritingModel();
  server = await startServer({ OPENAI_BASE_URL: models.url });
  ana = new Browser(server.url);
  await ana.signUp("Ana");
});
afterAll(async () => {
  await server.stop();
  models.stop();
});

const text = "El plazo es de **tres días**, según la [ordenanza](https://ejemplo.es/a).\n\n```js\nlet a = 1;\n```\n";
let place: string;
let address: string;

it("is linked from a sent message, with a QR code", async () => {
  const chat = await ana.say(says(text));
  await expect.poll(async () => readable(await ana.html(chat))).toContain("Regenerar");
  const sent = /\/conversation\/chat\/[\w-]+\/enviado\/[\w-]+/.exec(await ana.html(chat))?.[0] ?? "";
  place = /\/conversation\/recibo\/[\w-]+/.exec(await ana.html(sent))?.[0] ?? "";
  const html = await ana.html(place);
  expect(readable(html)).toContain("firma que escribano contestó esto");
  expect(html).toContain("Código QR del recibo");
  address = /href="[^"]*(\/recibo\?r=[^"]+)"/.exec(html)?.[1] ?? "";
  const luis = new Browser(server.url);
  await luis.signUp("Luis");
  expect((await luis.fetch(place)).status).toBe(404);
});

it("is verified by anyone with the answer, ignoring line breaks", async () => {
  const stranger = new Browser(server.url);
  expect(readable(await stranger.html(address))).toContain("lo contestó escribano");
  const receipt = decodeURIComponent(address.split("r=")[1] ?? "");
  const check = async (fields: Record<string, string>) =>
    readable(await (await stranger.submit(address, "/recibo", { receipt, ...fields })).text());
  expect(await check({ answer: text })).toContain("La respuesta es la del recibo.");
  expect(await check({ answer: `\r\n${text.replaceAll("\n", "\r\n").replace("tres ", "tres\r\n")}` })).toContain(
    "La respuesta es la del recibo.",
  );
  for (const other of [text.replace("ejemplo.es", "ejemplo.com"), text.replace("```js", "```js no"), `${text}.`, "."]) {
    expect(await check({ answer: other })).toContain("La respuesta no es la del recibo");
  }
  const changed = await check({ answer: text.replace("tres", "cuatro"), question: says(text) });
  expect(changed).toContain("La respuesta no es la del recibo");
  expect(changed).toContain("La pregunta es la del recibo.");
  for (const bad of [
    "",
    "hola",
    receipt.slice(2),
    `${receipt}x`,
    receipt.replace(".", ".."),
    `e30.${receipt.split(".")[1]}`,
  ]) {
    const html = await (await stranger.submit("/recibo", "/recibo", { receipt: bad, answer: text })).text();
    expect([bad, readable(html)]).toEqual([bad, expect.stringContaining("no lo ha firmado esta casa")]);
  }
});

it("is checked without this house, by its public key", async () => {
  const jwk = (await (await new Browser(server.url).fetch("/v1/api/receipt/key")).json()) as Record<string, string>;
  const [said = "", mark = ""] = decodeURIComponent(address.split("r=")[1] ?? "").split(".");
  const key = createPublicKey({ key: jwk, format: "jwk" });
  expect(verify(null, Buffer.from(said, "base64url"), key, Buffer.from(mark, "base64url"))).toBe(true);
  const claims = JSON.parse(Buffer.from(said, "base64url").toString()) as { answer: string };
  expect(claims.answer).toBe(markOf(text));
  expect(Buffer.from(said, "base64url").toString()).not.toContain("plazo");
});
