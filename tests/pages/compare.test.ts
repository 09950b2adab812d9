import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { Browser, hiddenFields, readable } from "../support/browser.ts";
import { streamed } from "../support/doors.ts";
import { startServer, type TestServer } from "../support/server.ts";

const owed: { model: string; response: ServerResponse }[] = [];
const upstream = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  const { model } = JSON.parse(body) as { model: string };
  if (body.includes("Pon título")) response.end(streamed("Título"));
  else owed.push({ model, response });
});
let server: TestServer;
let admin: Browser;
beforeAll(async () => {
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  server = await startServer();
  admin = new Browser(server.url);
  await admin.signUp("Admin");
  const baseUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
  for (const name of ["Uno", "Dos", "Tres"]) {
    const model = { name, provider: "openai-compatible", externalId: name.toLowerCase(), baseUrl };
    await admin.change("/admin/model/crear", { ...model, ...(name === "Uno" && { isDefault: "true" }) });
  }
});
afterAll(async () => {
  upstream.closeAllConnections();
  upstream.close();
  await server.stop();
});

const answer = async () => {
  const { model, response } = await vi.waitFor(() => owed.shift() ?? Promise.reject(new Error("nothing asked yet")));
  response.writeHead(200, { "Content-Type": "text/event-stream" }).end(streamed(`Contesta ${model}`));
};

it("compares answers of three models and keeps the chosen one", async () => {
  const chat = await admin.say("¿Quién eres?");
  await answer();
  const html = await vi.waitFor(async () => {
    const page = await admin.html(chat);
    expect(readable(page)).toContain("Contesta uno");
    return page;
  });
  const [dialog = ""] = /\/conversation\/chat\/[\w-]{36}\/regenerar\/[\w-]{36}/.exec(html) ?? [];
  const choices = [...(await admin.html(dialog)).matchAll(/<option[^>]*value="([\w-]{36})"[^>]*>(Dos|Tres)</g)];
  const [two, three] = ["Dos", "Tres"].map((name) => choices.find(([, , said]) => said === name)?.[1] ?? "");
  const sent = await admin.submit(dialog, dialog, { modelId: two ?? "", otherId: three ?? "" });
  const page = sent.headers.get("Location") ?? "";
  expect(page).toContain(`${chat}/comparar/`);

  const growing = await admin.fetch(page);
  await answer();
  expect(readable(await growing.text())).toMatch(
    /Tres Contesta después\..*Uno Contesta uno .*Dos Contesta dos .*Ver la siguiente/,
  );
  const last = await vi.waitFor(async () => {
    expect(owed).toHaveLength(1);
    return admin.fetch(page);
  });
  await answer();
  expect(readable(await last.text())).toContain("Contesta tres");
  const whole = await vi.waitFor(async () => {
    const now = await admin.html(page);
    expect(now.match(/Seguir con esta/g)).toHaveLength(3);
    return now;
  });
  const forms = [...whole.matchAll(/<form[\s\S]*?<\/form>/g)].map(([form]) => form);
  const chosen = hiddenFields(forms[1] ?? "", page);
  const back = await admin.follow(await admin.post(page, chosen));
  expect(readable(await back.text())).toContain("Contesta dos");
  expect(await admin.html(chat)).toContain(page);
});
