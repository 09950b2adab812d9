import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { io } from "socket.io-client";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Browser, readable } from "../support/browser.ts";
import { freePort, startServer, type TestServer } from "../support/server.ts";

let server: TestServer;
let nginx: ChildProcess;
let ana: Browser;
const installed = ["/usr/sbin/nginx", "/usr/bin/nginx"].some(existsSync);
const folder = mkdtempSync(join(tmpdir(), "tertulia-nginx-"));

/** nginx with the very lines that the guide for operators gives, changed as a test asks. */
async function start(change: (lines: string) => string = (lines) => lines): Promise<string> {
  const [, lines = ""] = /```nginx\n([\s\S]*?)```/.exec(readFileSync("docs/operar.md", "utf8")) ?? [];
  const port = await freePort();
  const temp = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  const location = change(lines).replace("http://127.0.0.1:3000", server.url);
  const conf = `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events {}
    http { access_log off; ${temp.join(" ")} server { listen 127.0.0.1:${port}; ${location} } }`;
  writeFileSync(join(folder, "nginx.conf"), conf);
  nginx = spawn("nginx", ["-p", folder, "-c", join(folder, "nginx.conf")], {
    stdio: "inherit",
    env: { PATH: `${process.env.PATH}:/usr/sbin` },
  });
  const url = `http://127.0.0.1:${port}`;
  await vi.waitFor(() => fetch(`${url}/health`), { timeout: 60_000 });
  return url;
}

async function stop(): Promise<void> {
  const ended = new Promise((resolve) => nginx.once("exit", resolve));
  nginx.kill();
  await ended;
}

beforeAll(async () => {
  if (!installed) return;
  server = await startServer({ TRUST_PROXY: "1" });
  ana = new Browser(await start());
  await ana.signUp("Ana");
});
afterAll(async () => {
  if (!installed) return;
  await stop();
  await server.stop();
  rmSync(folder, { recursive: true });
});

/** Reads the diagnosis as a browser does, asking for each line's picture as soon as it is there. */
async function diagnose(browser: Browser): Promise<string> {
  const page = "/admin/sistema/diagnostico";
  const run = (await browser.submit(page, page, {}, { Origin: browser.base })).headers.get("Location") ?? "";
  const { body } = await browser.fetch(run);
  let html = "";
  let seen = 0;
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    html += chunk;
    const pictures = [...html.matchAll(/<img src="([^"]+\/acuse\/\d+)"/g)].map(([, path = ""]) => path);
    for (const path of pictures.slice(seen)) await (await browser.fetch(path)).arrayBuffer();
    seen = pictures.length;
  }
  return readable(await browser.html(run));
}

describe.runIf(installed)("behind nginx as the guide has it", () => {
  it("pages stream as written, and the proxy's headers are trusted", async () => {
    const said = await diagnose(ana);
    expect(said).toContain("Nada retiene las páginas");
    expect(said).toContain("El proxy dice que la conexión es http, y se le cree.");
    expect(said).toContain("Cada visita se cuenta por su dirección.");
  });

  it("accepts forms sent from the proxy's public address", async () => {
    const page = "/conversation/project/crear";
    const answer = await ana.submit(page, page, { name: "Tesis" }, { Origin: ana.base });
    expect([answer.status, answer.headers.get("Location")]).toEqual([
      303,
      expect.stringMatching(/^\/conversation\/project\//),
    ]);
  });

  it("a realtime connection goes through", async () => {
    const Cookie = [...ana.cookies].map((pair) => pair.join("=")).join("; ");
    const extraHeaders = { Cookie, Origin: ana.base };
    const socket = io(ana.base, { path: "/engine.io", transports: ["websocket"], extraHeaders, reconnection: false });
    await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("connect_error", reject));
    socket.disconnect();
  });

  it("without its lines for streaming, the diagnosis tells so", async () => {
    await stop();
    const url = await start((lines) =>
      lines
        .replace("proxy_buffering off;", "")
        .replace(
          "proxy_http_version 1.1;",
          "gzip on; proxy_ignore_headers X-Accel-Buffering; proxy_buffers 8 256k; proxy_buffer_size 256k;",
        ),
    );
    const again = new Browser(url);
    for (const [name, value] of ana.cookies) again.cookies.set(name, value);
    expect(await diagnose(again)).toMatch(/Un proxy retiene|un proxy las junta/);
  });
});
