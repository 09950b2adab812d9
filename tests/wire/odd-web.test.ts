import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serverKey } from "../../app/api/models/model-server.server.ts";
import { ReplyError, replyError } from "../../app/replies/errors.server.ts";
import { listAt } from "../../app/replies/providers/model-lists.server.ts";
import { image } from "../../app/tools/builtin/image.server.ts";
import { readPage } from "../../app/tools/builtin/page.server.ts";
import { webSearch } from "../../app/tools/builtin/web-search.server.ts";
import type { Caller } from "../../app/tools/tool.server.ts";
import { inOwnNetwork, mayUnshare } from "../support/public-address.ts";

type Answer = { status?: number; headers?: Record<string, string>; body: unknown };
let server: Server;
let answers: Answer[];
let asked: { url: string; body: string }[];
beforeAll(async () => {
  server = createServer(async (request, response) => {
    asked.push({ url: request.url ?? "", body: Buffer.concat(await Array.fromAsync(request)).toString() });
    const { status = 200, headers = {}, body } = (answers.length > 1 ? answers.shift() : answers[0]) ?? { body: "" };
    response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => server.close());
const place = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const given = (...all: Answer[]) => {
  answers = all;
  asked = [];
};
const caller = () => ({ userId: "u", signal: AbortSignal.timeout(9_000), length: 10_000 }) as unknown as Caller;

// Only where a network of one's own may be made: pages are taken from public addresses alone.
it.runIf(mayUnshare)("reads pages as their servers pack, move and cut them", () => {
  expect(inOwnNetwork("odd-pages.ts")).toEqual({
    "/deflate": "read",
    "/bare-deflate": "read",
    "/zstd": "read",
    "/twice": "read",
    "/without-end": "read",
    "/not-packed": expect.stringContaining("está dañado"),
    "/moved": "read",
    "/a%C3%B1o": "read",
    "/linking": "read",
    "/table": expect.stringMatching(/Pro \| Mes \| 10\nPro \| Año \| 100\n+47 × 10⁶ personas, antes \[tachado: 30\]$/),
    // The text makes way for what is below it.
    below: expect.stringMatching(/^.{0,40}\n\nEnlaces de la página:\n- Baremo 2026: http:\/\/e\.es\/baremo\.pdf$/s),
    length: "400",
    "/refreshed": "read",
    "/cookie": "read",
    // Depends on how much was unpacked before the end.
    "/cut": expect.stringMatching(/^read$|está dañado/),
    "/long-headers": "read",
    "/factura.pdf": expect.stringMatching(/^Factura proforma 88\/2025/),
    "/descarga": expect.stringMatching(/^Factura proforma 88\/2025/),
    "/sello.png": expect.stringContaining("es una imagen"),
  });
});

describe("the text of a page", () => {
  const read = async (body: string | Buffer, mediaType = "text/html", charset?: string) => {
    const fetched = { url: "https://e.es", mediaType, charset, bytes: Buffer.from(body as string) };
    return (await readPage(fetched, "u")).text;
  };
  it("keeps the cells of a table apart, and the blanks of code", async () => {
    const row = "<table><tr><td>2024</td><td>12</td><td>6</td></tr></table>";
    expect(await read(`${row}<pre>if x:\n    y</pre>`)).toBe("2024 | 12 | 6\nif x:\n    y");
  });
  it("is that of the page, not of a longer notice of cookies", async () => {
    const notice = `<div class="cookie-banner"><p>${"Usamos galletas propias y de terceros. ".repeat(30)}</p></div>`;
    expect(await read(`${notice}<main><h1>Nota</h1><p>Los tipos suben al 3 %.</p></main>`)).toBe(
      "Nota\nLos tipos suben al 3 %.",
    );
  });
  it("is read where the whole page is one form, as those of ASP.NET", async () => {
    const page =
      '<form id="aspnetForm"><h1>Horarios</h1><ul><li>Lunes de 9 a 14</li></ul></form><footer>Aviso legal</footer>';
    expect(await read(page)).toContain("Lunes de 9 a 14");
  });
  it.each<[string, Buffer, string, string | undefined]>([
    ["by its server", Buffer.from("Año: señal", "latin1"), "text/plain", "iso-8859-1"],
    [
      "by its meta, with blanks",
      Buffer.from('<meta charset = "iso-8859-1"><p>Año: señal', "latin1"),
      "text/html",
      undefined,
    ],
    ["not at all", Buffer.from("<p>Año: señal de la mañana", "latin1"), "text/html", undefined],
    [
      "by its XML",
      Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?><a>Año: señal</a>', "latin1"),
      "application/xml",
      undefined,
    ],
  ])("has its accents where its encoding is named %s", async (_how, bytes, type, charset) => {
    expect(await read(bytes, type, charset)).toContain("Año: señal");
  });
});

describe("a search engine", () => {
  const seek = (kind: "searxng" | "brave", address = place()) =>
    webSearch({ kind, address, secret: () => "k" }).call({ busqueda: "pan" }, caller());
  const brave = (description: string) => ({
    body: { web: { results: [{ title: "Pan &amp; sal", url: "https://e.es", description }] } },
  });

  it("that is asked too fast is asked again, and its quotes are read without HTML", async () => {
    given(
      { status: 429, headers: { "Retry-After": "0.1" }, body: {} },
      brave("m&aacute;s <strong>pan</strong> &#x27;hoy&#x27;"),
    );
    expect(await seek("brave")).toMatchObject({ found: [{ title: "Pan & sal", quote: "más pan 'hoy'" }] });
  });
  it("whose own engines do not answer says so", async () => {
    given({ body: { results: [], unresponsive_engines: [["google", "Suspended: CAPTCHA"]] } });
    await expect(seek("searxng")).rejects.toThrow("no le contestan sus buscadores (google)");
  });
  it("may be named by the address of a search", async () => {
    given({ body: { results: [{ title: "t", url: "https://e.es", content: "c" }] } });
    await seek("searxng", `${place()}/search`);
    expect(asked[0]?.url).toMatch(/^\/search\?/);
  });
});

describe("a service of images", () => {
  const point = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const make = (address = `${place()}/v1`) =>
    image({ address, secret: () => null, model: null }).call({ descripcion: "Un pan", forma: "apaisada" }, caller());

  it("that knows other sizes is asked for one of its own", async () => {
    given({ status: 400, body: { error: { message: "Invalid size" } } }, { body: { data: [{ b64_json: point }] } });
    await make();
    expect(asked.map(({ body }) => (JSON.parse(body) as { size: string }).size)).toEqual(["1536x1024", "1792x1024"]);
  });
  it("may answer with a data address, and be named by the address of its call", async () => {
    given({ body: { data: [{ url: `data:image/png;base64,${point}` }] } });
    expect(await make(`${place()}/v1/images/generations`)).toMatchObject({ made: [{ name: "imagen.png" }] });
    expect(asked[0]?.url).toBe("/v1/images/generations");
  });
  it.each([
    [400, { code: "contentFilter", message: "" }, "se ha negado"],
    [400, { code: "billing_hard_limit_reached" }, "no tiene saldo"],
    [403, { message: "Your organization must be verified" }, "no deja usarse con esa clave"],
    [429, {}, "no admite más por ahora"],
  ])("says in Spanish why there is no image (%i %j)", async (status, error, sentence) => {
    given({ status, body: { error } });
    await expect(make()).rejects.toThrow(sentence);
  });
});

it("lists the models of a server that are for conversations", async () => {
  const data = [
    { id: "black-forest-labs/FLUX.1-schnell", type: "image" },
    { id: "BAAI/bge-large-en-v1.5" },
    { id: "un-oido", capabilities: { completion_chat: false } },
    { id: "un-pintor", architecture: { output_modalities: ["image"] } },
    { id: "openai/*" },
    { id: "Qwen/Qwen3-8B", type: "chat" },
    { id: "llama-3" },
  ];
  given({ body: { data } });
  const found = await listAt({ provider: "openai-compatible", baseUrl: `${place()}/v1`, apiKey: null });
  expect(JSON.stringify(found)).toContain("llama-3");
  expect(JSON.stringify(found)).toContain("Qwen3-8B");
  expect(JSON.stringify(found)).not.toMatch(/FLUX|bge|un-oido|un-pintor|openai\/\*/);
});

it.each([
  ["The decoder prompt (length 17772) is longer than the maximum model length of 16384.", 16_384],
  ["Your request exceeded model token limit: 262144", 262_144],
  ["length of prompt_tokens (40000) must be less than max_seq_len (32768)", 32_768],
  ["`inputs` must have less than 1024 tokens. Given: 2000", 1024],
  ["Prompt 超长", undefined],
])("takes %j for a conversation that is too long", (said, fits) => {
  const error = replyError({ error: { message: said, code: 400 } });
  expect(error).toBeInstanceOf(ReplyError);
  expect(error).toMatchObject({ kind: "too-long", fits });
});

it.each([
  ["its header", "Bearer sk-abc"],
  ["quotes", '"sk-abc"'],
  ["a line break and a sign that nobody sees", "sk-\u200babc\n"],
])("takes a key that was copied with %s", (_, key) => {
  expect(serverKey.parse(key)).toBe("sk-abc");
});

it("refuses a key that was shortened for being shown", () => {
  expect(serverKey.safeParse("sk-abc…def").error?.issues[0]?.message).toContain("cópiala otra vez");
});
