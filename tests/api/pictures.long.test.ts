import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { sqlite } from "../support/engines.ts";

let api: Api;
let ana: Account;
beforeAll(async () => {
  api = await openApi(sqlite);
  ana = await api.signUp("Ana");
});
afterAll(() => api.close());

async function upload(name: string) {
  const file = new File([readFileSync(new URL(`../documents/${name}`, import.meta.url))], name);
  const { items } = (await api.upload(ana.token, [file])).body as { items: { id: string }[] };
  return items[0];
}
async function passagesOf(id: string | undefined) {
  const { body } = await api.call("GET", `/api/file/${id}/passages`, { token: ana.token });
  return (body as { items: { page: number | null; text: string }[] }).items;
}

it("reads a tilted scanned contract page by page for search", async () => {
  const id = (await upload("contrato-escaneado.pdf"))?.id;
  // Longer than an upload waits on a slow machine.
  await expect
    .poll(async () => (await passagesOf(id)).map(({ page }) => page), { timeout: 60_000 })
    .toEqual(expect.arrayContaining([1, 2]));
  expect((await passagesOf(id)).map(({ text }) => text).join(" ")).toContain("calle del Olmo, número 14");
  const { body } = await api.call("GET", "/api/search?mode=passages&q=renta mensual seiscientos euros", {
    token: ana.token,
  });
  expect((body as { passages: { fileId: string; page: number }[] }).passages[0]).toMatchObject({
    fileId: id,
    page: expect.any(Number),
  });
});

it("reads text in a photo, which is available at once", async () => {
  const photo = await upload("contrato-foto.jpg");
  expect(photo).toMatchObject({ mediaType: "image/jpeg", state: "ready" });
  await expect
    .poll(async () => (await passagesOf(photo?.id)).map(({ text }) => text).join(" "), { timeout: 60_000 })
    .toContain("La renta asciende a seiscientos cuarenta euros");
});

it("accepts a PDF of images and reports the missing text", async () => {
  const id = (await upload("sin-letra.pdf"))?.id;
  await expect
    .poll(async () => (await api.call("GET", `/api/file/${id}`, { token: ana.token })).body, { timeout: 60_000 })
    .toMatchObject({ state: "ready", hasText: false, pages: 1 });
});
