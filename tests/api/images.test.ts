import OpenAI from "openai";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Browser } from "../support/browser.ts";
import { startProgram } from "../support/doors.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { startWebServices } from "../support/web-services.ts";

let services: Awaited<ReturnType<typeof startWebServices>>;
let server: TestServer;
let admin: Browser;
let client: OpenAI;
beforeAll(async () => {
  [services, server] = await Promise.all([startWebServices(), startServer()]);
  admin = new Browser(server.url);
  await admin.signUp("Admin");
  const { key } = await startProgram(server.url);
  client = new OpenAI({ apiKey: key, baseURL: `${server.url}/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await server.stop();
  services.stop();
});
const why = (request: Promise<unknown>) =>
  request.then(
    () => "no error",
    (error: { status: number; message: string }) => `${error.status} ${error.message}`,
  );

it("makes images for programs when an image service is configured", async () => {
  const asked = { prompt: "Un faro", size: "1024x1024" as const };
  expect(await why(client.images.generate(asked))).toMatch(/Aquí no hay ningún servicio que haga imágenes/);
  await admin.change("/admin/tool/crear", {
    name: "Imágenes",
    kind: "image",
    address: `${services.url}/v1`,
    secret: "clave",
  });
  const made = await client.images.generate({ ...asked, model: "gpt-image-1", response_format: "b64_json", n: 1 });
  const bytes = Buffer.from(made.data?.[0]?.b64_json ?? "", "base64");
  expect(bytes.subarray(1, 4).toString()).toBe("PNG");
  expect(await why(client.images.generate({ ...asked, n: 2 }))).toMatch(/Aquí se hace una imagen cada vez/);
  expect(await why(client.images.generate({ ...asked, quality: "hd" }))).toMatch(/Aquí no hay «quality»/);
  expect(await why(client.images.generate({ ...asked, response_format: "url" }))).toMatch(/b64_json/);
});
