import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { createDeflate } from "node:zlib";
import { zipSync } from "fflate";
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

/** A Word file of 160 kB that is 160 MB inside. */
function bomb(): Uint8Array<ArrayBuffer> {
  const types =
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>';
  return new Uint8Array(
    zipSync({
      "[Content_Types].xml": new TextEncoder().encode(types),
      "word/document.xml": new Uint8Array(160_000_000),
    }),
  );
}

/** A PDF, made of its objects from 1 on; the first is its root. */
function pdf(...objects: (string | Buffer)[]): Uint8Array<ArrayBuffer> {
  const parts = objects.flatMap((object, index) => [`${index + 1} 0 obj\n`, object, "\nendobj\n"]);
  const bytes = ["%PDF-1.7\n", ...parts, "trailer <</Root 1 0 R>>\n%%EOF"].map((part) => Buffer.from(part));
  return new Uint8Array(Buffer.concat(bytes));
}

/** A PDF of some megabytes with a page of a gigabyte and a half. */
async function inflatingPage(): Promise<Uint8Array<ArrayBuffer>> {
  const spaces = Buffer.alloc(16 * 1024 * 1024, " ");
  const packed = Readable.from(Array.from({ length: 96 }, () => spaces)).pipe(createDeflate({ level: 1 }));
  const content = await buffer(packed);
  return pdf(
    "<</Type /Catalog /Pages 2 0 R>>",
    "<</Type /Pages /Count 1 /Kids [3 0 R]>>",
    "<</Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R>>",
    Buffer.concat([
      Buffer.from(`<</Filter /FlateDecode /Length ${content.length}>>\nstream\n`),
      content,
      Buffer.from("\nendstream"),
    ]),
  );
}

/** A ZIP of one text that is 230 MB. */
const longText = () => new Uint8Array(zipSync({ "a.txt": new Uint8Array(230 * 1024 * 1024) }));

/** Why a file that was uploaded was not read, said at once or once it has been tried. */
async function problemOf(sent: File): Promise<string> {
  const answer = await api.upload(ana.token, [sent]);
  const { detail, items = [] } = answer.body as { detail?: string; items?: { id: string }[] };
  const [file] = items;
  if (!file) return detail ?? "";
  let problem: string | undefined;
  await expect
    .poll(
      async () => {
        const { body } = await api.call("GET", `/api/file/${file.id}`, { token: ana.token });
        ({ problem } = body as { problem?: string });
        return (body as { state: string }).state;
      },
      { timeout: 60_000 },
    )
    .not.toBe("reading");
  return problem ?? "";
}

it.each<[string, () => Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>>, string, string]>([
  ["a DOCX of 160 MB inside", bomb, "carta.docx", "se hincha"],
  ["a PDF with a page of a gigabyte and a half", inflatingPage, "hoja.pdf", "demasiado grande o complicado"],
  ["a ZIP of a text of 230 MB", longText, "papeles.zip", "se hincha"],
])("%s is refused with the reason, and one sent beside it is taken", async (_what, make, name, why) => {
  const bad = problemOf(new File([await make()], name));
  const beside = await api.upload(ana.token, [new File(["Apuntes"], "apuntes.txt")]);
  expect(beside.status).toBe(201);
  expect(await bad).toContain(why);
});

it("refuses a conversation export that expands beyond the size limit", async () => {
  const endless = new TextEncoder().encode(`[${"{},".repeat(15_000_000)}{}]`);
  const archive = new File([new Uint8Array(zipSync({ "a.json": endless }))], "bomba.zip");
  const { status, body } = await api.upload(ana.token, [archive], {}, "/api/chat/import");
  if (status === 422) return expect((body as { detail: string }).detail).toContain("demasiado grande");
  // It takes longer than a request waits.
  expect(status).toBe(202);
  const ended = await api.services.jobs.ended((body as { id: string }).id, 60_000);
  expect(ended).toMatchObject({ state: "failed", problem: expect.stringContaining("demasiado grande") });
});
