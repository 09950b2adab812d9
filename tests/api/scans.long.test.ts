import { readFileSync } from "node:fs";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { sqlite } from "../support/engines.ts";
import { scannedPdf } from "../support/scanned-pdf.ts";

let api: Api;
let ana: Account;
beforeAll(async () => {
  api = await openApi(sqlite);
  ana = await api.signUp("Ana");
});
afterAll(() => api.close());

const bytesOf = (name: string) => readFileSync(new URL(`../documents/${name}`, import.meta.url));
async function upload(bytes: Buffer, name: string): Promise<string> {
  const { body } = await api.upload(ana.token, [new File([new Uint8Array(bytes)], name)]);
  return (body as { items: [{ id: string }] }).items[0].id;
}
async function textOf(id: string): Promise<string> {
  const { body } = await api.call("GET", `/api/file/${id}/passages`, { token: ana.token });
  return (body as { items: { text: string }[] }).items.map(({ text }) => text).join(" ");
}

describe("the text of a scanned paper", { timeout: 90_000 }, () => {
  it.each([90, 180])("is read from a photo turned by %i degrees", async (angle) => {
    const turned = await sharp(bytesOf("contrato-foto.jpg")).rotate(angle).jpeg().toBuffer();
    const id = await upload(turned, `turned-${angle}.jpg`);
    await expect.poll(() => textOf(id), { timeout: 60_000 }).toContain("seiscientos cuarenta euros");
  });

  it.each(["fax-ccitt.pdf", "copiadora-jbig2.pdf", "copiadora-jpeg2000.pdf"])(
    "is read as machines write it: %s",
    async (name) => {
      const id = await upload(bytesOf(name), name);
      await expect.poll(() => textOf(id), { timeout: 60_000 }).toContain("seiscientos cuarenta euros");
    },
  );

  it("is read from a scan cut into strips", async () => {
    const picture = await sharp(bytesOf("contrato-foto.jpg")).toBuffer({ resolveWithObject: true });
    const { width, height } = picture.info;
    const strip = 200;
    const strips = await Promise.all(
      Array.from({ length: Math.floor(height / strip) }, (_, n) =>
        sharp(picture.data)
          .extract({ left: 0, top: n * strip, width, height: strip })
          .jpeg({ quality: 90 })
          .toBuffer(),
      ),
    );
    const id = await upload(scannedPdf(strips, width, strip), "tiras.pdf");
    await expect.poll(() => textOf(id), { timeout: 60_000 }).toContain("seiscientos cuarenta euros");
  });
});
