import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { HTTPException } from "hono/http-exception";
import { afterAll, beforeAll, expect, it } from "vitest";
import { asProblem } from "../../app/api/http/problem.server.ts";
import { explainPostgres } from "../../app/db/wrong-database.server.ts";
import { listFolder } from "../../app/files/drives/webdav.server.ts";

let answer: { status: number; body: string; headers?: Record<string, string> };
const server = createServer((_, response) => response.writeHead(answer.status, answer.headers).end(answer.body));
let base: string;
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const list = (root: string, path: string) =>
  listFolder({ address: base + root, username: "ana", password: "x" }, path, AbortSignal.timeout(5_000));

function multistatus(folder: string, files: string[]): string {
  const entry = (href: string, type: string) =>
    `<D:response><D:href>${href}</D:href><D:propstat><D:prop><D:resourcetype>${type}</D:resourcetype></D:prop></D:propstat></D:response>`;
  const all = [entry(folder, "<D:collection/>"), ...files.map((file) => entry(file, ""))];
  return `<?xml version="1.0"?><D:multistatus xmlns:D="DAV:">${all.join("")}</D:multistatus>`;
}

it.each([
  ["names that are encoded", "/dav/", "", "/dav/", ["/dav/a%20b%23.pdf", "/dav/100%25.pdf"], ["a b#.pdf", "100%.pdf"]],
  [
    "names as they are",
    "/dav/",
    "",
    "/dav/",
    ["/dav/t #3.pdf", "/dav/¿qué? 100% sí.pdf"],
    ["t #3.pdf", "¿qué? 100% sí.pdf"],
  ],
  ["a folder's name as it is", "/dav/", "C# docs", "/dav/C# docs/", ["/dav/C# docs/a.pdf"], ["C# docs/a.pdf"]],
  ["two slashes at the root", "/", "", "//", ["//informe.pdf"], ["informe.pdf"]],
])("a server of files lists %s", async (_what, root, path, folder, files, read) => {
  answer = { status: 207, body: multistatus(folder, files) };
  expect((await list(root, path)).map((entry) => entry.path)).toEqual(read);
});

it("a server that takes no password in this way is told as such", async () => {
  answer = { status: 401, body: "", headers: { "WWW-Authenticate": 'Digest realm="x", nonce="y"' } };
  await expect(list("/dav/", "")).rejects.toThrow("pide entrar de otra manera (Digest)");
});

it("a PostgreSQL without TLS is told as such", () => {
  expect(explainPostgres(new Error("The server does not support SSL connections"))).toMatchObject({
    message: expect.stringContaining("no habla TLS"),
  });
});

it.each([
  [400, { "Content-Encoding": "gzip" }, /sin comprimir/],
  [415, {}, /Content-Type: application\/json/],
  [400, {}, /no es JSON válido/],
] as const)("a body that is not read is told as what it is: %i %j", (status, headers, said) => {
  const c = { req: { header: (name: string) => (headers as Record<string, string>)[name] } };
  expect(asProblem(new HTTPException(status), c as never).message).toMatch(said);
});
