import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LLMock } from "@copilotkit/aimock";
import { strToU8, zipSync } from "fflate";
import { TOTP } from "otpauth";
import { afterAll, beforeAll, expect, it } from "vitest";
import { base, hasDirectory, searcher, startDirectory } from "../support/directory.ts";
import { startFileServer } from "../support/file-server.ts";
import { startIdentityProvider, startLogoutIssuer } from "../support/identity-provider.ts";
import { type MailServer, startMailServer } from "../support/mail-server.ts";
import { startModelServer } from "../support/model-server.ts";
import { signInThere, startOauthToolServer } from "../support/oauth-tool-server.ts";
import { freePort, startServer, type TestServer } from "../support/server.ts";
import { startScriptedModel, steps } from "../support/tool-servers.ts";

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
  form?: FormData | URLSearchParams;
  headers?: Record<string, string>;
  query?: string;
  at?: string;
};

const withPage = join(import.meta.dirname, "..", "support", "app-server.ts");
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
    MCP_SERVERS: JSON.stringify({ urna: { command: process.execPath, args: [withPage] } }),
  });
  document = (await (await fetch(`${server.url}/v1/api/openapi.json`)).json()) as Document;
  const path = join(mkdtempSync(join(tmpdir(), "contract-")), "openapi.json");
  writeFileSync(path, JSON.stringify(document));
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  proxy = spawn(prism, ["proxy", path, `${server.url}/v1`, "--errors", "-p", String(port)], { stdio: "pipe" });
  await new Promise<void>((resolve, reject) => {
    proxy.once("error", (cause) =>
      reject(new Error("Prism is not installed: run `node prepare.mjs tools` first", { cause })),
    );
    proxy.stdout?.on("data", (printed) => String(printed).includes("listening") && resolve());
  });
});
afterAll(async () => {
  await server.stop();
  await Promise.all([models.stop(), mail.stop()]);
  // It has none where its package is not installed.
  if (proxy.pid !== undefined && proxy.kill()) await once(proxy, "exit");
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

  const redirect_uri = "http://127.0.0.1/";
  const { client_id } = await made("post /auth/oauth/register");
  await run(
    "get /auth/oauth/consent",
    {},
    { query: `?${new URLSearchParams({ client_id: String(client_id), redirect_uri })}` },
  );
  const verifier = "a".repeat(43);
  const code_challenge = createHash("sha256").update(verifier).digest("base64url");
  const given = await made("post /auth/oauth/consent", { client_id, redirect_uri, code_challenge, scope: "read" });
  const grant = {
    grant_type: "authorization_code",
    client_id: String(client_id),
    redirect_uri,
    code: String(given.code),
  };
  const exchange = new URLSearchParams({ ...grant, code_verifier: verifier });
  const { access_token } = await made("post /auth/oauth/token", {}, { form: exchange });
  await run("post /auth/oauth/revoke", {}, { form: new URLSearchParams({ token: String(access_token) }) });

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
  const device = {
    endpoint: "https://avisos.example/1",
    keys: {
      p256dh: "BB4YUy_UdUwC8wQdnHXOszuD_9gax85P6ILMscmLxYlupGwxHE4v9A3ZajZT5uRURdMt_khuztdcepDGoYiBwKM",
      auth: "A".repeat(22),
    },
  };
  await run("post /api/device", undefined, { json: device });
  await run("get /api/device");
  await run("delete /api/device/here");
  await run("delete /api/device");
  const feed = await made("put /api/feed");
  await run("get /api/feed");
  await run("get /api/feed/{token}", feed);
  await run("delete /api/feed");
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
  const prepared = (await (await run("post /api/user/{id}/export", user)).json()) as Body;
  await run("get /api/user/{id}/exports", user);
  await run("get /api/user/{id}/export/{exportId}", { id: user.id, exportId: prepared.id });
  await run("get /api/user/{id}/use", user);
  await run("delete /api/user/{id}/sessions", luis);
  await run("delete /api/user/{id}", luis);
});

it("tools, decisions, assistants and templates are as the document says", async () => {
  const server = await startOauthToolServer();
  const tool = await made("post /api/tool", { name: "cuentas", kind: "mcp", address: server.url, secret: null });
  await run("get /api/tool");
  await run("get /api/tool/{id}", tool);
  const redirect = "https://tertulia.example/vuelta";
  const { url: there } = await made("post /api/tool/{id}/sign-in", { id: tool.id, redirect });
  const brought = (await signInThere(String(there), redirect)).searchParams.toString();
  await run("post /api/tool/{id}/sign-in/end", { id: tool.id, brought });
  const theirs = { name: "de cada cual", kind: "mcp", address: server.url, personal: true };
  const personal = await made("post /api/tool", {}, { json: theirs });
  const connecting = await made("post /api/tool-account/{id}", { id: personal.id, redirect });
  const consent = (await signInThere(String(connecting.url), redirect)).searchParams.toString();
  await run("post /api/tool-account/{id}/end", { id: personal.id, brought: consent });
  await first("get /api/tool-account");
  await run("delete /api/tool-account/{id}", { id: personal.id });
  await run("post /api/tool/{id}/list", tool);
  const choices = { quien: { ask: true } };
  await run(
    "put /api/tool/{id}",
    { id: tool.id },
    { json: { name: "cuentas", kind: "mcp", address: server.url, choices } },
  );

  const scripted = await startScriptedModel();
  const model = {
    name: "m",
    provider: "openai-compatible",
    externalId: "x",
    baseUrl: `${scripted.url}/v1`,
    usesTools: true,
  };
  const { id: modelId } = await made("post /api/model", {}, { json: model });
  const content = steps([[{ name: "cuentas_quien", input: {} }]]);
  const stream = await run("post /api/intelligence/conversation", {}, { json: { content, modelId } });
  const [start] = (await stream.text()).split("\n\n").map((part) => JSON.parse(part || "{}") as Body);
  const id = String(start?.messageId);
  const { parts } = (await made("get /api/message/{id}", { id })) as unknown as {
    parts: { n: number; asks: { hash: string } }[];
  };
  const json = { n: parts[0]?.n, hash: parts[0]?.asks.hash, decision: "once" };
  await run("post /api/message/{id}/decision", { id }, { json });
  const votes = steps([[{ name: "urna_recuento", input: { asunto: "El frontón" } }]]);
  const counting = await run("post /api/intelligence/conversation", {}, { json: { content: votes, modelId } });
  const [begun] = (await counting.text()).split("\n\n").map((part) => JSON.parse(part || "{}") as Body);
  const app = { id: String(begun?.messageId), n: 0 };
  await run("get /api/message/{id}/app/{n}", app);
  await run("get /api/message/{id}/app/{n}/page", app);
  const vote = { tool: "votar", input: '{"voto":"si"}', agreed: true };
  await run("post /api/message/{id}/app/{n}/call", app, { json: vote });
  await run("delete /api/tool/{id}", tool);
  await run("delete /api/model/{id}", { id: modelId });
  await scripted.stop();
  await server.stop();

  for (const [noun, body] of [
    ["assistant", { name: "Corrector", beginnings: ["Corrige"] }],
    ["schedule", { content: "Hola", days: [1], time: "08:00", zone: "Europe/Madrid" }],
    ["template", { title: "Carta", content: "Hola, {{nombre}}" }],
  ] as const) {
    const thing = await made(`post /api/${noun}`, {}, { json: body });
    await run(`get /api/${noun}`);
    await run(`get /api/${noun}/{id}`, thing);
    await run(`put /api/${noun}/{id}`, thing, { json: body });
    await run(`delete /api/${noun}/{id}`, thing);
  }
});

it("artifacts are as the document says", async () => {
  const { id } = await made("post /api/artifact", {}, { json: { title: "Acta", text: "Se abre la sesión." } });
  await first("get /api/artifact");
  await run("get /api/artifact/{id}", { id });
  await run("patch /api/artifact/{id}", { id }, { json: { text: "Se cierra.", reason: "Por la hora" } });
  await run("get /api/artifact/{id}/versions", { id });
  await run("get /api/artifact/{id}/growth", { id });
  const { token } = await made("put /api/artifact/{id}/share", { id });
  await run("get /api/share/artifact/{token}", { token });
  await run("delete /api/artifact/{id}/share", { id });
  await run("delete /api/artifact/{id}", { id });
});

it("receipts are as the document says", async () => {
  await run("get /api/receipt/key");
  await run("post /api/receipt/check", {}, { json: { receipt: "e30.AA", answer: "Hola" } });
});

it("what is remembered is as the document says", async () => {
  await run("put /api/memory/choice", {}, { json: { on: true } });
  const { items } = (await made("post /api/memory", {}, { json: { text: "Trabaja en el padrón" } })) as unknown as {
    items: { id: string }[];
  };
  const id = items[0]?.id ?? "";
  await run("get /api/memory");
  await run("patch /api/memory/{id}", { id }, { json: { text: "Trabaja en el archivo" } });
  await run("delete /api/memory/{id}", { id });
});

it("skills are as the document says", async () => {
  const form = new FormData();
  const head = strToU8("---\nname: actas\ndescription: Actas\n---\nSé breve.");
  const zip = zipSync({ "SKILL.md": head, "modelo.md": strToU8("ACTA") });
  form.append("files", new File([zip as Uint8Array<ArrayBuffer>], "actas.zip"));
  const at = `${server.url}/v1`;
  const { skill } = (await made("post /api/skill/upload", {}, { form, at })) as unknown as { skill: Body };
  await first("get /api/skill");
  const { id } = skill;
  await run("get /api/skill/{id}", { id });
  const [text] = await first("get /api/skill/{id}/files", { id });
  await run("get /api/skill/{id}/files/{fileId}", { id, fileId: text?.id });
  await run("put /api/skill/{id}", { id }, { json: { name: "actas", description: "Actas", content: "Sé claro." } });
  await run("delete /api/skill/{id}", { id });
  const other = await made("post /api/skill", {}, { json: { name: "Bandos", description: "Bandos", content: "Así." } });
  expect(other.name).toBe("bandos");
});

it("rooms are as the document says", async () => {
  const { id: assistantId } = await made("post /api/assistant", { name: "Profe" });
  const asked = {
    name: "3.º B",
    assistantId,
    endsAt: new Date(Date.now() + 3_600_000).toISOString(),
    showsTexts: true,
  };
  const { id, code } = await made("post /api/room", {}, { json: asked });
  await first("get /api/room");
  await run("get /api/room/opening");
  await run("get /api/room/{id}", { id });
  await run("patch /api/room/{id}", { id }, { json: { people: 5 } });
  await run("get /api/guest/room/{code}", { code });
  const { token: guest } = await made("post /api/guest/room/{code}", { code });
  const as = { headers: { "Room-Guest": String(guest) } };
  const { messageId } = await made("post /api/guest/message", {}, { json: { content: "Hola" }, ...as });
  await run("get /api/guest/message/{messageId}", { messageId }, as);
  await run("post /api/guest/message/{messageId}/follow", { messageId }, as);
  await run("get /api/guest/conversation", {}, as);
  await run("post /api/guest/stop", {}, as);
  const [one] = await first("get /api/room/{id}/guests", { id });
  await run("get /api/room/{id}/guests/{guestId}", { id, guestId: one?.id });
  await run("delete /api/guest", {}, as);
  await run("delete /api/room/{id}", { id });
});

it("errands are as the document says", async () => {
  const { items: models } = (await made("get /api/model")) as unknown as { items: { id: string; provider: string }[] };
  const modelId = models.find(({ provider }) => provider !== "local")?.id;
  const asked = { question: "¿Qué se sabe?", looksIn: ["documents"], ...(modelId && { modelId }) };
  const { id } = await made("post /api/errand", {}, { json: asked });
  await first("get /api/errand");
  await run("get /api/errand/{id}", { id });
  await run("post /api/errand/{id}/stop", { id });
  await run("patch /api/errand/{id}", { id }, { json: { title: "Informe", plan: [{ title: "A", searches: ["b"] }] } });
  await run("post /api/errand/{id}/start", { id }, { json: { finish: true } });
  await run("post /api/errand/{id}/stop", { id });
  await run("delete /api/errand/{id}", { id });
});

it("questions in series are as the document says", async () => {
  const template = await made("post /api/template", {}, { json: { title: "Carta", content: "Hola, {{nombre}}" } });
  const { items: models } = (await made("get /api/model")) as unknown as { items: { id: string; provider: string }[] };
  const form = new FormData();
  form.append("templateId", String(template.id));
  form.append("modelId", models.find(({ provider }) => provider !== "local")?.id ?? "");
  form.append("files", new File(["nombre\nAna\n"], "datos.csv"));
  // The proxy that compares passes no files on.
  const at = `${server.url}/v1`;
  const { id } = await made("post /api/batch", {}, { form, at });
  await first("get /api/batch");
  await run("get /api/batch/{id}", { id });
  await run("post /api/batch/{id}/stop", { id });
  await run("post /api/batch/{id}/resume", { id }, { json: {} });
  await run("get /api/batch/{id}/result", { id });
  await run("delete /api/batch/{id}", { id });
  await run("delete /api/template/{id}", template);
});

it("file server folders and webhooks are as the document says", async () => {
  const there = await startFileServer({ ana: "clave" });
  const drive = { name: "Nube", address: there.url };
  const { id } = await made("post /api/drive", {}, { json: drive });
  await run("get /api/drive");
  await run("get /api/drive/{id}", { id });
  await run("put /api/drive/{id}", { id }, { json: drive });
  await run("put /api/drive-account/{id}", { id }, { json: { username: "ana", password: "clave" } });
  await run("get /api/drive-account");
  await run("get /api/drive-account/{id}/folders", { id });
  const { id: projectId } = await made("post /api/project");
  const folder = await made("post /api/folder", {}, { json: { driveId: id, projectId, path: "" } });
  await run("get /api/folder", {}, { query: `?projectId=${projectId}` });
  await run("post /api/folder/{id}/look", folder);
  await run("delete /api/folder/{id}", folder);
  await run("delete /api/drive-account/{id}", { id });
  await run("delete /api/drive/{id}", { id });
  there.state.mood = 204;
  const json = { name: "Intranet", address: there.url, replyEnded: true };
  const webhook = await made("post /api/webhook", {}, { json });
  await run("get /api/webhook");
  await run("get /api/webhook/{id}", webhook);
  await run("put /api/webhook/{id}", webhook, { json });
  await run("delete /api/webhook/{id}", webhook);
  await there.stop();
});

it("conversations are as the document says", async () => {
  const [model] = await first("get /api/model");
  const modelId = model?.id;
  const project = await made("post /api/project");
  const chat = await made("post /api/chat");
  const draft = { content: "Hola", modelId, fileIds: [] };
  await run("put /api/project/{id}/draft", project, { json: { draft } });
  const change = { modelId, projectId: project.id, draft, title: "Riego" };
  await run("patch /api/chat/{id}", chat, { json: change });
  await run("get /api/chat");
  await run("get /api/chat/{id}", chat);
  const stream = await run("post /api/intelligence/conversation", {}, { json: { chatId: chat.id, content: "Hola" } });
  const [start] = (await stream.text()).split("\n\n").map((part) => JSON.parse(part || "{}") as Body);
  const messageId = String(start?.messageId);
  await run("post /api/intelligence/conversation/{messageId}/notify", { messageId });
  await run("get /api/intelligence/conversation/{messageId}/notify", { messageId });
  await run("post /api/intelligence/conversation/{messageId}/stop", { messageId });
  const message = await made("post /api/message", { chatId: chat.id });
  await run("get /api/message");
  await run("get /api/message/{id}", message);
  await run("patch /api/message/{id}", message);
  await run("get /api/message/{id}/prompt", { id: messageId });
  await run("get /api/message/{id}/receipt", { id: messageId });
  await run(
    "put /api/message/{id}/opinion",
    { id: messageId },
    { json: { useful: false, reason: "Se inventa la fecha." } },
  );
  await run("get /api/message/{id}/opinion", { id: messageId });
  const { items: opinions } = (await made("get /api/opinion")) as unknown as { items: { id: string }[] };
  const opinion = { id: opinions[0]?.id ?? "" };
  await run("get /api/opinion/{id}", opinion);
  const { items: models } = (await made("get /api/model")) as unknown as { items: { id: string; provider: string }[] };
  const otherModel = models.find(({ provider }) => provider !== "local")?.id;
  await run("post /api/opinion/{id}/try", opinion, { json: { modelId: otherModel } });
  await run("delete /api/message/{id}/opinion", { id: messageId });
  // A message that waits for a reply that fails; the proxy would hold back a stream to its end.
  const at = `${server.url}/v1`;
  const say = (json: Body) =>
    run("post /api/intelligence/conversation", {}, { at, json: { chatId: chat.id, modelId: otherModel, ...json } });
  const failing = await say({ content: "Una respuesta cortada" });
  expect(await (await say({ content: "Hola después", queue: true })).text()).toContain('"queued"');
  expect(await failing.text()).toContain('"failed"');
  await run("post /api/chat/{id}/queued", chat);
  const [asked] = await first(
    "get /api/message",
    {},
    { query: `?${new URLSearchParams({ filter: JSON.stringify({ chatId: chat.id, role: "user" }) })}` },
  );
  const [answering] = await first("get /api/model");
  await run("post /api/chat/{id}/compared", { id: chat.id, parentId: asked?.id, modelIds: [answering?.id] });
  await run("get /api/chat/shown");
  await run("get /api/chat/{id}/groups", chat);
  await run("put /api/chat/{id}/groups", chat, { json: { groupIds: [] } });
  await run("post /api/chat/{id}/copy", chat);
  await run("get /api/chat/{id}/messages", chat);
  await run("get /api/chat/{id}/export", chat);
  await run("get /api/search", {}, { query: "?q=hola" });
  await run("get /api/dashboard/initialize");
  await run("get /api/usage");
  await run("get /api/usage/costs");
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
  await run("post /api/file/{id}/reading", { id: file?.id });
  const readAgain = async () => (await run("get /api/file/{id}", { id: file?.id })).json();
  await expect.poll(readAgain, { timeout: 60_000 }).toMatchObject({ state: "ready" });
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
  const answered = await made("post /responses", {}, { json: { model: model?.externalId, input: "Hola" } });
  await run("get /responses/{id}", answered);
  await run("get /responses/{id}/input_items", answered);
  await run("delete /responses/{id}", answered);
  await run("post /messages", { model: model?.externalId });
  await run("post /messages/count_tokens", { model: model?.externalId });
  await run("get /ollama/api/version");
  await run("get /ollama/api/tags");
  await run("get /ollama/api/ps");
  await run("post /ollama/api/show", {}, { json: { model: model?.externalId } });
  const question = { model: model?.externalId, messages: [{ role: "user", content: "Hola" }], stream: false };
  await run("post /ollama/api/chat", {}, { json: question });
});

it("coming in, groups and invitations are as the document says", async () => {
  const redirect = "https://tertulia.example/auth/oidc/callback";
  const provider = await startIdentityProvider([redirect]);
  provider.people.set("ana", { email: person.email, email_verified: true });
  const json = { name: "casa", kind: "oidc", address: provider.issuer, clientId: provider.clientId };
  const secret = provider.clientSecret;
  const access = await made("post /api/access", {}, { json: { ...json, secret } });
  await run("get /api/access");
  await run("get /api/access/{id}", access);
  await run("put /api/access/{id}", access, { json: { ...json, secret } });
  const comeIn = async () => {
    const { url: there, ...begun } = await made("post /auth/oidc/{id}", { id: access.id, redirect });
    const brought = (await signInThere(String(there), redirect)).search.slice(1);
    return run("post /auth/oidc/{id}/end", access, { json: { ...begun, redirect, brought } });
  };
  const { ticket } = (await (await comeIn()).json()) as Body;
  await run("post /auth/oidc/{id}/join", access, { json: { ticket, password: person.password } });
  expect((await comeIn()).status).toBe(200);
  await provider.stop();

  const { issuer, logoutToken, stop } = await startLogoutIssuer("tertulia");
  const telling = await made("post /api/access", {}, { json: { ...json, name: "avisa", address: issuer } });
  const form = new URLSearchParams({ logout_token: await logoutToken() });
  await run("post /auth/oidc/backchannel", {}, { form });
  await stop();

  if (hasDirectory) {
    const directory = await startDirectory();
    const bind = { clientId: searcher.dn, secret: searcher.password, searchBase: `ou=personas,${base}` };
    const ldap = { name: "directorio", kind: "ldap", address: directory.url, ...bind };
    const one = await made("post /api/access", {}, { json: ldap });
    await run("post /auth/ldap/{id}", one, { json: { username: "berta", password: "clave de berta" } });
    await directory.stop();
  } else done.add("post /auth/ldap/{id}");
  await run("delete /api/access/{id}", telling);

  const group = await made("post /api/group", {}, { json: { name: "Legal" } });
  await run("get /api/group");
  await run("get /api/group/{id}", group);
  await run("put /api/group/{id}", group, { json: { name: "Legal y cumplimiento", budget: 20.5 } });
  const { user } = (await (await run("get /auth/session")).json()) as { user: { id: string } };
  const joined = { groupId: group.id, userId: user.id };
  const member = await made("post /api/member", {}, { json: joined });
  await run("get /api/member");
  await run("get /api/member/{id}", member);
  await run("put /api/member/{id}", member, { json: joined });
  await run("delete /api/member/{id}", member);

  await run("post /api/audit/check");
  await run("get /api/system/processing");
  await run("get /auth/passkey");
  await run("post /auth/passkey/options", {}, { json: { origin: new URL(server.url).origin } });
  await run("post /auth/signin/passkey/options", {}, { json: { origin: new URL(server.url).origin } });
  // They take what a device has signed: `tests/e2e/passkeys.spec.ts` has one.
  for (const one of ["post /auth/passkey", "delete /auth/passkey/{id}", "post /auth/signin/passkey"]) done.add(one);
  await run("get /api/terms");
  const project = await made("post /api/project", {}, { json: { name: "Tesis" } });
  const mate = { name: "Berta", email: "berta-del-proyecto@ejemplo.es", password: person.password };
  const other = await made("post /api/user", {}, { json: mate });
  await run("post /api/project/{id}/members", project, { json: { email: mate.email, role: "writes" } });
  await run("get /api/project/{id}/members", project);
  await run("put /api/project/{id}/owner", project, { json: { userId: other.id } });
  await run("delete /api/project/{id}/members/{userId}", { id: project.id, userId: user.id });
  await run("post /api/terms", {}, { json: { version: 1 } });
  const searched = { name: "De prueba", externalId: "ideas", baseUrl: "http://127.0.0.1:9/v1", enabled: false };
  const searchModel = await made("post /api/search-model", {}, { json: searched });
  // It takes a server: `tests/api/meaning.test.ts` has one.
  done.add("post /embeddings");
  done.add("post /ollama/api/embed");
  done.add("post /ollama/api/embeddings");
  await run("get /api/search-model");
  await run("get /api/search-model/{id}", searchModel);
  await run("put /api/search-model/{id}", searchModel, { json: { ...searched, name: "Otro" } });
  await run("delete /api/search-model/{id}", searchModel);
  const heard = {
    name: "Oído",
    kind: "transcription",
    externalId: "uno",
    baseUrl: "http://127.0.0.1:9/v1",
    enabled: false,
  };
  const voiceModel = await made("post /api/voice-model", {}, { json: heard });
  await run("get /api/voice-model");
  await run("get /api/voice-model/{id}", voiceModel);
  await run("put /api/voice-model/{id}", voiceModel, { json: { ...heard, name: "Otro" } });
  await run("delete /api/voice-model/{id}", voiceModel);
  // They take a server: `tests/api/voice.test.ts` has one.
  for (const one of [
    "post /api/voice/transcriptions",
    "post /audio/transcriptions",
    "post /audio/speech",
    "post /images/generations",
    "get /api/message/{id}/speech",
  ])
    done.add(one);
  const retention = await made("post /api/retention", {}, { json: { kind: "chats", days: 365 } });
  await run("get /api/retention");
  await run("get /api/retention/{id}", retention);
  await run("get /api/retention/{id}/due", retention);
  await run("put /api/retention/{id}", retention, { json: { kind: "chats", days: 700, groupId: group.id } });
  await run("delete /api/retention/{id}", retention);
  const hold = await made("post /api/hold", {}, { json: { userId: user.id, reason: "Un juicio" } });
  await run("get /api/hold");
  await run("get /api/hold/{id}", hold);
  await run("put /api/hold/{id}", hold, { json: { userId: user.id, reason: "Otro juicio" } });
  await run("delete /api/hold/{id}", hold);
  const notice = await made("post /api/notice", {}, { json: { text: "El lunes no hay servicio." } });
  await run("get /api/notice");
  await run("get /api/notice/{id}", notice);
  await run("put /api/notice/{id}", notice, { json: { text: "El martes tampoco." } });
  await run("post /api/notice/{id}/read", notice);
  await run("delete /api/notice/{id}", notice);

  const invitation = await made("post /api/invitation", {}, { json: { groupIds: [group.id] } });
  await run("get /api/invitation");
  await run("get /api/invitation/{id}", invitation);
  await run("put /api/invitation/{id}", invitation, { json: { groupIds: [group.id] } });
  const { path } = await made("get /api/invitation/{id}/link", invitation);
  const given = { token: String(path).replace("/auth/invitacion/", "") };
  await run("get /auth/invitation/{token}", given);
  const account = { name: "Eva", email: "eva@ejemplo.es", password: person.password };
  await run("post /auth/invitation/{token}", given, { json: account });
  await run("delete /api/invitation/{id}", invitation);
  await run("delete /api/group/{id}", group);
  // Its links are made by a command, which SQLite lets run only while no server does; `tests/api/access.test.ts` has it.
  done.add("post /auth/link");
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

  await run("get /api/job");
  const [job] = await first("get /api/job");
  await run("get /api/job/{id}", { id: job?.id });
  await run("post /api/job/again");

  await run("get /api/system");
  const diagnosis = await made("post /api/system/diagnosis");
  await run("post /api/system/diagnosis/{id}/marks", diagnosis, { json: { kind: "written", line: 0 } });
  await run("get /api/system/diagnosis/{id}", diagnosis);
  const { name } = await made("post /api/system/backup");
  await run("get /api/system/backup");
  await run("get /api/house/public");
  await run("get /api/house");
  await run("patch /api/house", {}, { json: { name: "Casa", accent: "#7fb4e6", timeZone: "Europe/Madrid" } });
  const form = new FormData();
  form.append("image", new File(['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"/>'], "logo.svg"));
  await run("put /api/house/image/{kind}", { kind: "logo" }, { form });
  await (await run("get /api/house/image/{kind}", { kind: "logo" })).body?.cancel();
  await run("delete /api/house/image/{kind}", { kind: "logo" });
  const copy = { resource: "backup", id: name };
  await run("get /api/inspection/{resource}/{id}", copy);
  await run("post /api/inspection", {}, { json: { ...copy, purpose: "Llevarla a otra máquina" } });
  await run("get /api/inspection");
  await (await run("get /api/system/backup/{name}", { name })).body?.cancel();
  await run("delete /api/system/backup/{name}", { name });
});

it("no operation of the document was left out", () => {
  const all = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method} ${path}`),
  );
  expect(all.filter((operation) => !done.has(operation))).toEqual([]);
});
