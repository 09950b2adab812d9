import { readFileSync } from "node:fs";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { sqlite } from "../support/engines.ts";

let api: Api;
let ana: Account;
beforeAll(async () => {
  api = await openApi(sqlite);
  ana = await api.signUp("Ana");
});
afterAll(() => api.close());

const picture = (format: "png" | "jpeg" | "webp" | "gif" | "avif") =>
  sharp({
    create: {
      width: 64,
      height: 64,
      channels: 3,
      background: "#a03",
      noise: { type: "gaussian", mean: 90, sigma: 40 },
    },
  })
    .toFormat(format)
    .toBuffer();
const document = async (name: string) => readFileSync(new URL(`../documents/${name}`, import.meta.url));

describe.each([
  ["foto.png", () => picture("png")],
  ["foto.jpg", () => picture("jpeg")],
  ["foto.webp", () => picture("webp")],
  ["foto.gif", () => picture("gif")],
  ["foto.avif", () => picture("avif")],
  ["informe.pdf", () => document("informe.pdf")],
  ["carta.docx", () => document("carta.docx")],
])("%s cut at five places", (name, whole) => {
  it("is read in part or refused, keeping the other file", async () => {
    const bytes = await whole();
    for (let part = 0; part < 5; part++) {
      const length = part === 0 ? 8 : Math.floor((bytes.length * part) / 5);
      const cut = new File([new Uint8Array(bytes.subarray(0, length))], name);
      const answer = await api.upload(ana.token, [cut, new File(["Hola"], "hola.txt")]);
      expect([length, answer.status]).toEqual([length, 201]);
      const { items, refused } = answer.body as { items: { name: string }[]; refused: { reason: string }[] };
      expect(items.at(-1)?.name).toBe("hola.txt");
      // Some can still be read in part; whatever can't says so in Spanish.
      for (const { reason } of refused) expect(reason).toMatch(/dañad|incomplet|otra cosa|no se sabe|píxeles/);
    }
  });
});

it("refuses files that contain only the start of a format", async () => {
  for (const start of [
    "PK\x03\x04",
    "%PDF-",
    "\x89PNG\r\n\x1a\n",
    "GIF89a",
    "RIFF\x10\x00\x00\x00WEBP",
    "\x1f\x8b",
    "MZ",
  ]) {
    const answer = await api.upload(ana.token, [new File([Buffer.from(start, "latin1")], "a.bin")]);
    expect([start, answer.status]).toEqual([start, 422]);
  }
});
