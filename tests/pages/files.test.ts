import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Browser, readable } from "../support/browser.ts";
import { startServer, type TestServer } from "../support/server.ts";

let server: TestServer;
let browser: Browser;
beforeAll(async () => {
  server = await startServer();
  browser = new Browser(server.url);
  await browser.signUp();
});
afterAll(() => server.stop());

it("reads a long document in pages, from any cited passage", async () => {
  const paragraphs = Array.from(
    { length: 400 },
    (_, n) => `Párrafo ${n} del acta. ${"Se acuerda seguir. ".repeat(60)}`,
  );
  const [id] = await browser.upload([new File([paragraphs.join("\n\n")], "acta.txt")]);
  const numbersOn = async (query: string) =>
    [...readable(await browser.html(`/user/file/${id}${query}`)).matchAll(/Párrafo (\d+) del acta/g)].map(([, n]) =>
      Number(n),
    );
  const first = await numbersOn("");
  expect(first[0]).toBe(0);
  const found = await numbersOn("?pasaje=200");
  expect(found[0]).toBeGreaterThan(Math.max(...first));
  // The link to it stands before it.
  expect(await numbersOn("?desde=200")).toEqual(expect.arrayContaining(found.slice(4, 8)));
  expect((await numbersOn("?desde=200"))[0]).toBeGreaterThan(found[0] ?? 0);
  const links = async (query: string) =>
    [...(await browser.html(`/user/file/${id}${query}`)).matchAll(/href="[^"]*\?desde=(\d+)"[^>]*>([^<]+)</g)].map(
      ([, from, said]) => [Number(from), said],
    );
  // A hundred passages a page.
  expect(await links("")).toEqual([[100, "Seguir leyendo"]]);
  expect(await links("?desde=100")).toEqual([
    [0, "Ver lo anterior"],
    [200, "Seguir leyendo"],
  ]);
  const all = await numbersOn("?desde=100");
  expect((await numbersOn("?desde=200"))[0]).toBeGreaterThanOrEqual(all.at(-1) ?? 0);
  // Beyond its end there is nothing to read.
  expect((await browser.fetch(`/user/file/${id}?desde=9999`)).headers.get("Location")).toBe(`/user/file/${id}`);
});

it("a document without any text found can be read again", async () => {
  const bytes = readFileSync(join(import.meta.dirname, "../documents/solo-programa.html"));
  const [id] = await browser.upload([new File([bytes], "solo-programa.html")]);
  const page = `/user/file/${id}`;
  expect(readable(await browser.html(page))).toContain("no se ha encontrado texto");
  const answer = await browser.submit(page, page, { intent: "read" });
  expect(answer.headers.get("Location")).toBe(page);
  await expect.poll(() => browser.html(page), { timeout: 20_000 }).toContain("Leerlo otra vez");
});

it("a printed conversation names the files of each message", async () => {
  const answer = await browser.submit("/conversation/chat", "/conversation/chat", {
    content: "Mira esto",
    fileIds: (await browser.upload([new File(["Apuntes de física"], "apuntes.txt")]))[0] ?? "",
  });
  const chat = answer.headers.get("Location") ?? "";
  await browser.html(chat);
  expect(readable(await browser.html(`${chat}/imprimir`))).toMatch(/Con «apuntes\.txt» ?\./);
  const markdown = await browser.html(`${chat}/descargar?formato=markdown`);
  expect(markdown).toMatch(/\n\n- Adjunto: apuntes\.txt\n\nMira esto\n/);
  // The model's answer has none.
  expect(markdown.match(/- Adjunto/g)).toHaveLength(1);
});
