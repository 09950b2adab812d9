// A push service at a public address, in a network of its own: to be started by `unshare --net`. Somebody has notices on two devices,
// asks, and leaves; prints as JSON what the service was sent and what the pages say.

import { execFileSync } from "node:child_process";
import { createECDH, createPublicKey, randomBytes, verify } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { decrypt } from "http_ece";
import { Browser, readable, unescapeHtml } from "./browser.ts";
import { startModelServer } from "./model-server.ts";
import { takePublicAddress } from "./public-address.ts";
import { freePort, startServer } from "./server.ts";

const address = takePublicAddress();
const origin = `https://${address}`;
const folder = mkdtempSync(join(tmpdir(), "tertulia-push-"));
const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
const named = ["-subj", `/CN=${address}`, "-addext", `subjectAltName=IP:${address}`];
execFileSync(
  "openssl",
  ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", cert, ...named],
  { stdio: "ignore" },
);

/** A browser's subscription, as it keeps it. */
const newDevice = (path: string) => {
  const pair = createECDH("prime256v1");
  pair.generateKeys();
  const auth = randomBytes(16).toString("base64url");
  return { pair, auth, form: { endpoint: `${origin}${path}`, p256dh: pair.getPublicKey("base64url"), auth } };
};
const devices = new Map(["/busy", "/gone", "/upgrade"].map((path) => [path, newDevice(path)]));

type Sent = { path: string; status: number; headers: IncomingHttpHeaders; notice: unknown; signed: unknown };
const sent: Sent[] = [];
const service = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const path = request.url ?? "";
  if (path === "/upgrade") {
    // Node has no answer for it, and no error either.
    return void response.socket?.end("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n");
  }
  const device = devices.get(path);
  const status = path === "/gone" ? 410 : 201;
  const text =
    device &&
    decrypt(Buffer.concat(chunks), { version: "aes128gcm", privateKey: device.pair, authSecret: device.auth });
  sent.push({
    path,
    status,
    headers: request.headers,
    notice: JSON.parse(String(text)),
    signed: claims(request.headers),
  });
  response.writeHead(status, status === 201 ? { Location: `${origin}/m/1` } : {}).end();
});
await new Promise<void>((resolve) => service.listen(443, address, resolve));

/** The server's signature for the service (RFC 8292), if it is signed with the key that it names. */
function claims({ authorization = "" }: IncomingHttpHeaders): unknown {
  const [, token = "", named = ""] = /^vapid t=([\w.-]+), ?k=([\w-]+)/.exec(authorization) ?? [];
  const [header = "", body = "", signature = ""] = token.split(".");
  const point = Buffer.from(named, "base64url");
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString("base64url"));
  const publicKey = createPublicKey({ key: { kty: "EC", crv: "P-256", x: x ?? "", y: y ?? "" }, format: "jwk" });
  const isSigned = verify(
    "sha256",
    Buffer.from(`${header}.${body}`),
    { key: publicKey, dsaEncoding: "ieee-p1363" },
    Buffer.from(signature, "base64url"),
  );
  return isSigned && { ...(JSON.parse(Buffer.from(body, "base64url").toString()) as object), key: named };
}

const models = await startModelServer();
const PORT = String(await freePort());
const server = await startServer({
  OPENAI_BASE_URL: `${models.url}/v1`,
  OPENAI_API_KEY: "clave",
  PORT,
  PUBLIC_URL: `https://tertulia.example:${PORT}`,
  NODE_EXTRA_CA_CERTS: cert,
});
const account = async (browser: Browser) => unescapeHtml(await browser.html("/user/avisos"));
const phone = new Browser(server.url);
const email = await phone.signUp();
const other = new Browser(server.url);
await other.signIn(email);
/** Form of the page's script once the browser has its subscription. */
async function add(browser: Browser, fields: Record<string, string>): Promise<Response> {
  const formToken = /name="formToken" value="([^"]+)"/.exec(await browser.html("/user/avisos"))?.[1] ?? "";
  return browser.post("/user/dispositivos", { formToken, intent: "here", ...fields });
}

await add(phone, devices.get("/busy")?.form ?? {});
const refused = await add(other, { ...newDevice("/x").form, endpoint: "https://127.0.0.1/x" });
const afterRefusal = readable(await account(other));
await add(other, devices.get("/gone")?.form ?? {});
const before = readable(await account(phone));

/** Asks to be told of a reply that is being written; answers the words of the button. */
async function askFor(path: string): Promise<string> {
  const growing = await phone.beginningOf(path, "Frase");
  const [form = ""] = /<form class="notify"[\s\S]*?<\/form>/.exec(growing) ?? [];
  const action = / action="([^"]+)"/.exec(form)?.[1] ?? "";
  const formToken = /name="formToken" value="([^"]+)"/.exec(form)?.[1] ?? "";
  await phone.post(action, { formToken, intent: "notify" });
  return readable(form).trim();
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await setTimeout(20);
}

const chat = await phone.say("Una respuesta lenta");
const label = await askFor(chat);
await until(() => sent.length === 2);
await until(async () => !readable(await account(phone)).includes("otro dispositivo"));
const after = readable(await account(phone));

// The third answers what is no answer.
const third = new Browser(server.url);
await third.signIn(email);
await add(third, devices.get("/upgrade")?.form ?? {});
const answer = await phone.submit("/conversation/chat", "/conversation/chat", {
  content: "Una respuesta lenta",
  temporary: "1",
});
await askFor(answer.headers.get("Location") ?? "");
await until(() => sent.length === 3);
// A session whose browser takes no notices is not offered any of what only it may see.
const fourth = new Browser(server.url);
await fourth.signIn(email);
const hidden = await fourth.submit("/conversation/chat", "/conversation/chat", {
  content: "Una respuesta lenta",
  temporary: "1",
});
const unoffered = !(await fourth.beginningOf(hidden.headers.get("Location") ?? "", "Frase")).includes('class="notify"');
await askFor(await phone.say("Otra respuesta lenta"));
await until(() => sent.length === 4);
await until(() => server.printed().includes("los avisos no llegan"));

await phone.submit("/user/avisos", "/user/dispositivos", { intent: "end-here" });
const ended = readable(await account(phone));
await server.stop();
await models.stop();
service.close();
rmSync(folder, { recursive: true });
console.log(
  JSON.stringify({
    chat,
    label,
    unoffered,
    sent,
    refused: refused.status,
    afterRefusal,
    before,
    after,
    log: server.printed(),
    ended,
  }),
);
process.exit(0);
