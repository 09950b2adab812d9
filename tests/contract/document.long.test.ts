import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LLMock } from "@copilotkit/aimock";
import { TOTP } from "otpauth";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type MailServer, startMailServer } from "../support/mail-server.ts";
import { startModelServer } from "../support/model-server.ts";
import { freePort, startServer, type TestServer } from "../support/server.ts";

// Prism (stoplight.io) stands between: it reads the document and answers an error of its own where a request or an answer is not as it says.
const prism = join(import.meta.dirname, "..", "tools", "node_modules", ".bin", "prism");

type Body = Record<string, unknown>;
type Operation = {
  requestBody?: { content: Record<string, { example?: Body }> };
  responses: Record<string, unknown>;
};
type Document = { paths: Record<string, Record<string, Operation>> };
/** `at`: past Prism, which takes no repeated part of a form for a list. */
type Given = {
  token?: string;
  json?: Body;
  form?: FormData;
  headers?: Record<string, string>;
  query?: string;
  at?: string;
};

let models: LLMock;
let mail: MailServer;
let server: TestServer;
let proxy: ChildProcess;
let url: string;
let document: Document;
beforeAll(async () => {
  [models, mail] = await Promise.all([startModelServer(), startMailServer()]);
  const own = await freePort();
  server = await startServer({
    PORT: String(own),
    PUBLIC_URL: `http://127.0.0.1:${own}`,
    OPENAI_BASE_URL: `${models.url}/v1`,
    OPENAI_API_KEY: "clave",
    SMTP_URL: mail.url,
    MAIL_TO: "casa@ejemplo.es",
  });
  document = (await (await fetch(`${server.url}/v1/api/openapi.json`)).json()) as Document;
  const path = join(mkdtempSync(join(tmpdir(), "contract-")), "openapi.json");
  writeFileSync(path, JSON.stringify(document));
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  proxy = spawn(prism, ["proxy", path, `${server.url}/v1`, "--errors", "-p", String(port)], { stdio: "pipe" });
  await new Promise<void>((resolve) => {
    proxy.stdout?.on("data", (printed) => String(printed).includes("listening") && resolve());
  });
});
afterAll(async () => {
  proxy.kill();
  await once(proxy, "exit");
  await server.stop();
  await Promise.all([models.stop(), mail.stop()]);
});

const done = new Set<string>();
let token = "";

/** Runs an operation of the document by its own example, with `known` in the place of ids and of what else only this test knows. */
async function run(operation: string, known: Body = {}, given: Given = {}): Promise<Response> {
  const [method = "", path = ""] = operation.split(" ");
  const described = document.paths[path]?.[method];
  if (!described) throw new Error(`${operation} is not in the document`);
  const address = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(known[name])));
  const [type, { example } = {}] = Object.entries(described.requestBody?.content ?? {})[0] ?? [];
  const isJson = type === "application/json";
  const shared = Object.entries(known).filter(([name]) => example && name in example);
  const json = given.json ?? { ...example, ...Object.fromEntries(shared) };
  const response = await fetch(`${given.at ?? url}${address}${given.query ?? ""}`, {
    method: method.toUpperCase(),
    headers: {
      Authorization: `Bearer ${given.token ?? token}`,
      ...(isJson && { "Content-Type": type }),
      ...given.headers,
    },
    ...(given.form ? { body: given.form } : isJson && { body: JSON.stringify(json) }),
  });
  const problem = response.headers.get("sl-violations") ?? (response.ok ? "" : await response.clone().text());
  expect(`${operation}: ${problem}`).toBe(`${operation}: `);
  expect(Object.keys(described.responses)).toContain(String(response.status));
  done.add(operation);
  return response;
}
const made = async (...args: Parameters<typeof run>) => (await (await run(...args)).json()) as Body & { id: string };
const first = async (...args: Parameters<typeof run>) => (await made(...args)).items as (Body & { id: string })[];

const person = { email: "ana@ejemplo.es", password: "una frase larga y rara" };
const currentPassword = person.password;

it("accounts and sessions are as the document says", async () => {
  await run("get /auth/options");
  const signup = await run("post /auth/signup", person);
  token = await signup.text();
  const cookie = signup.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  token = await (await run("post /auth/refresh", {}, { headers: { Cookie: cookie } })).text();
  await run("get /auth/session");
  await run("get /auth/person");
  const signin = async () => (await run("post /auth/signin", person)).text();
  await signin();
  const sessions = await first("get /auth/sessions");
  await run("delete /auth/sessions/{id}", { id: sessions.find(({ current }) => !current)?.id });
  await run("delete /auth/sessions");
  await run("post /auth/signout", {}, { token: await signin() });

  const { secret } = await made("post /auth/authenticator");
  const code = (at: number) => new TOTP({ secret: String(secret) }).generate({ timestamp: at });
  await run("put /auth/authenticator", { secret, currentPassword, code: code(Date.now()) });
  await run("get /auth/authenticator");
  const asked = await fetch(`${server.url}/v1/auth/signin`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(person),
  });
  const { ticket } = (await asked.json()) as Body;
  await run("post /auth/signin/code", { ticket, code: code(Date.now() + 30_000) });
  await run("delete /auth/authenticator", { currentPassword });

  await run("post /auth/reset", person);
  const reset = {
    token: /\/auth\/\w+\/([\w.-]+)/.exec(await mail.nextTo(person.email))?.[1],
    password: currentPassword,
  };
  await run("get /auth/reset/{token}", reset);
  await run("put /auth/reset/{token}", reset);
  token = await signin();

  const key = await made("post /api/key");
  await run("get /api/key");
  await run("delete /api/key/{id}", key);
});

it("users are as the document says", async () => {
  const luis = await made("post /api/user", { email: "luis@ejemplo.es" });
  await run("get /api/user");
  await run("get /api/user/{id}", luis);
  const change = { name: "Luisa", draft: null };
  await run("patch /api/user/{id}", luis, { json: change });
  const { user } = (await (await run("get /auth/session")).json()) as { user: Body };
  await run("get /api/user/{id}/export", user);
  await run("get /api/user/{id}/use", user);
  await run("delete /api/user/{id}/sessions", luis);
  await run("delete /api/user/{id}", luis);
});

it("conversations are as the document says", async () => {
  const [model] = await first("get /api/model");
  const modelId = model?.id;
  const project = await made("post /api/project");
  const chat = await made("post /api/chat");
  const draft = { content: "Hola", modelId, fileIds: [] };
  await run("put /api/project/{id}/draft", project, { json: { draft } });
  await run("patch /api/chat/{id}", { id: chat.id, modelId, projectId: project.id, draft });
  await run("get /api/chat");
  await run("get /api/chat/{id}", chat);
  const stream = await run("post /api/intelligence/conversation", {}, { json: { chatId: chat.id, content: "Hola" } });
  const [start] = (await stream.text()).split("\n\n").map((part) => JSON.parse(part || "{}") as Body);
  const messageId = String(start?.messageId);
  await run("post /api/intelligence/conversation/{messageId}/stop", { messageId });
  const message = await made("post /api/message", { chatId: chat.id });
  await run("get /api/message");
  await run("get /api/message/{id}", message);
  await run("patch /api/message/{id}", message);
  await run("get /api/message/{id}/prompt", { id: messageId });
  await run("get /api/chat/{id}/messages", chat);
  await run("get /api/chat/{id}/export", chat);
  await run("get /api/search", {}, { query: "?q=hola" });
  await run("get /api/dashboard/initialize");
  await run("get /api/usage");
  await run("get /api/usage/figures");

  const summary = await made("post /api/summary", { chatId: chat.id, upToMessageId: messageId });
  await run("get /api/summary");
  await run("get /api/summary/{id}", summary);
  await run("put /api/summary/{id}", { id: summary.id, chatId: chat.id, upToMessageId: messageId });
  await run("delete /api/summary/{id}", summary);

  const upload = { form: new FormData(), at: `${server.url}/v1` };
  upload.form.append("files", new File(["Una tarde de lluvia"], "hola.txt"));
  const [file] = await first("post /api/file/uploads", {}, upload);
  await run("get /api/file");
  for (const operation of ["get /api/file/{id}", "get /api/file/{id}/content", "get /api/file/{id}/passages"])
    await run(operation, { id: file?.id });
  await run(
    "post /api/intelligence/conversation",
    {},
    { json: { chatId: chat.id, content: "Mira", fileIds: [file?.id] } },
  );
  const { token: shared } = await made("put /api/chat/{id}/share", { id: chat.id, files: true });
  await run("get /api/chat/{id}/share", chat);
  await run("get /api/share/{token}", { token: shared });
  await run("get /api/share/{token}/file/{id}", { token: shared, id: file?.id });
  await run("delete /api/chat/{id}/share", chat);
  await run("delete /api/file/{id}", { id: file?.id });
  const [exported] = await first("get /api/chat");
  const saved = await run("get /api/chat/{id}/export", { id: exported?.id }, { query: "?format=json" });
  const form = new FormData();
  form.append("file", new File([await saved.text()], "chat.json", { type: "application/json" }));
  await run("post /api/chat/import", {}, { form });

  await run("delete /api/message/{id}", message);
  await run("delete /api/chat/{id}", chat);
  await run("get /api/project");
  await run("get /api/project/{id}", project);
  await run("put /api/project/{id}", project);
  await run("delete /api/project/{id}", project);

  await run("get /models");
  await run("get /models/{id}", { id: model?.externalId });
  await run("post /chat/completions", { model: model?.externalId });
});

it("what an admin looks after is as the document says", async () => {
  const { user } = (await (await run("get /auth/session")).json()) as { user: { id: string } };
  for (const [noun, change] of [
    ["model", "put"],
    ["page", "put"],
    ["subscription", "put"],
    ["training", "patch"],
  ]) {
    const one = await made(`post /api/${noun}`, { userId: user.id });
    await run(`get /api/${noun}`);
    await run(`get /api/${noun}/{id}`, one);
    await run(`${change} /api/${noun}/{id}`, { id: one.id, userId: user.id });
    await run(`delete /api/${noun}/{id}`, one);
  }
  const [model] = await first("get /api/model");
  await run("post /api/model/{id}/test", { id: model?.id });
  await run("post /api/model/discover");

  await run("post /api/email/contact");
  await run("post /api/email/support");
  const [email] = await first("get /api/email");
  await run("get /api/email/{id}", { id: email?.id });
  await run("get /api/audit");
  const [entry] = await first("get /api/audit");
  await run("get /api/audit/{id}", { id: entry?.id });

  await run("get /api/system");
  const { name } = await made("post /api/system/backup");
  await run("get /api/system/backup");
  await (await run("get /api/system/backup/{name}", { name })).body?.cancel();
  await run("delete /api/system/backup/{name}", { name });
});

it("no operation of the document was left out", () => {
  const all = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method} ${path}`),
  );
  expect(all.filter((operation) => !done.has(operation))).toEqual([]);
});
