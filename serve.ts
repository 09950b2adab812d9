// One process: the HTTP server in front of the pages, the API and its sockets. `start.ts` starts it.
import cluster from "node:cluster";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Server as TcpServer } from "node:net";
import { fileURLToPath } from "node:url";
import { createRequestListener } from "@remix-run/node-fetch-server";

type App = typeof import("./app/server/handler.server.ts");
type Front = {
  /** The server side, as it is now: in development an edit makes it anew. */
  load(): Promise<App>;
  /** Answers files that need no thought, and leaves the rest. */
  files(request: IncomingMessage, response: ServerResponse, next: () => void): void;
};

const dev = process.argv.includes("--dev");
// In ms: how long running replies may go on after SIGTERM, and connections that are open may bring a last request.
const patience = 20_000;
const lastRequests = 3_000;

// Headers that do not come are looked for this often, in ms; Node's own is half a minute.
const server = createServer({ connectionsCheckingInterval: 2_000 });
const { load, files } = dev ? await develop() : await serveBuild();
let app = await load();
let opened = await openOrExplain();
const { config, log } = opened;
let handle = app.createHandler(opened);
let renewed: Promise<void> | undefined;
let closing = false;

const listener = createRequestListener(
  async (request: Request, client: { address: string }) => {
    if (dev) await renewInTurn();
    return handle(request, { ip: client.address });
  },
  {
    trustProxy: config.trustProxy,
    ...(config.publicUrl && { host: new URL(config.publicUrl).host, protocol: new URL(config.publicUrl).protocol }),
    onError(error) {
      log.error({ err: error as Error }, "petición fallida");
      return new Response("Algo ha fallado en el servidor. Vuelve a intentarlo.", {
        status: 500,
        headers: { "Content-Type": "text/plain; charset=utf-8" },
      });
    },
  },
);

server.headersTimeout = 10_000;
// Longer than proxies keep a connection (nginx and AWS's balancers: 60 s): one that closes first meets requests under way with a 502.
server.keepAliveTimeout = 75_000;
// A whole export over a slow line, for who is signed in; bodies that stall are cut far sooner (bounded-body.server.ts).
server.requestTimeout = 30 * 60_000;
server.on("request", (request, response) => {
  response.once("finish", () => discardRest(request));
  if (closing) response.setHeader("Connection", "close");
  const malformed = app.refuseMalformed(request);
  if (malformed) return refuse(response, malformed);
  trustNearest(request);
  dropForgedEntry(request);
  files(request, response, () => listener(request, response));
});
let sockets = app.createSockets(opened);
server.on("upgrade", (request, socket, head) => {
  // In development the other upgrades are Vite's.
  if (!sockets.take(request, socket, head) && !dev) socket.destroy();
});
server.on("error", (error: NodeJS.ErrnoException) => {
  console.error(unheard(error));
  process.exit(1);
});
// As many as Linux allows by default: a thousand may come at once, and Node's own 511 would have the others refused.
server.listen({ port: config.port, host: config.host, backlog: 4096 }, () => {
  const address = server.address();
  const port = typeof address === "object" ? address?.port : config.port;
  // Of several processes, the one that has started them says it.
  if (cluster.isWorker) return;
  console.log(`Tertulia escucha en ${config.publicUrl ?? `http://localhost:${port}`}`);
});

if (cluster.isWorker) app.showLife();
process.on("SIGTERM", () => leave(patience, 0));
process.on("SIGINT", () => leave(0, 0));
// One task has failed: a reply, a job, a message to a browser. The others go on.
process.on("unhandledRejection", (reason) => {
  log.error({ err: asError(reason), ...underway() }, "una tarea ha fallado sin que nadie la esperara");
});
// Nobody knows what was left half done, such as a transaction: the replies are left in order, to another process or the next start.
process.on("uncaughtException", (error) => {
  log.fatal({ err: asError(error), ...underway() }, "el proceso termina por un error que nadie esperaba");
  void leave(patience, 1);
});

/** Sentence for an address or a port that can't be listened on. */
function unheard({ code = "", message }: NodeJS.ErrnoException): string {
  if (code === "EADDRINUSE") return `PORT ${config.port} ya está ocupado por otro programa.`;
  if (code === "EACCES")
    return `PORT ${config.port} no se puede usar sin permiso: por debajo de 1024 lo tiene root. Pon otro, y un proxy delante.`;
  if (/^(EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN|EINVAL)$/.test(code))
    return `HOST ${config.host} no es una dirección de esta máquina.`;
  return `No se puede escuchar en ${config.host ?? "esta máquina"}, puerto ${config.port}: ${message}`;
}

async function leave(patience: number, code: number): Promise<void> {
  if (closing) return;
  closing = true;
  // Node's own `close` of an HTTP server would also cut connections on which the next request is on its way.
  const answered = new Promise((resolve) => TcpServer.prototype.close.call(server, resolve));
  setTimeout(() => server.closeIdleConnections(), patience === 0 ? 0 : lastRequests).unref();
  void sockets.close();
  await opened.close(patience, answered);
  process.exit(code);
}

const underway = () => (opened.services ? { replies: opened.services.runs.underway } : {});
const asError = (reason: unknown) => (reason instanceof Error ? reason : new Error(String(reason)));

function refuse(response: ServerResponse, { status, sentence }: { status: number; sentence: string }): void {
  response.writeHead(status, { "Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff" });
  response.end(sentence);
}

/** The proxy in front says last who has asked it; what stands before that, and in `Forwarded`, anyone may have written. */
function trustNearest({ headers }: IncomingMessage): void {
  delete headers.forwarded;
  const said = [headers["x-forwarded-for"]].flat().join(",");
  if (said) headers["x-forwarded-for"] = said.split(",").at(-1)?.trim();
}

/** Takes away the header that lets people in (AUTH_HEADER) where anybody but the proxy has sent it. */
function dropForgedEntry({ headers, socket }: IncomingMessage): void {
  const { authProxy } = config;
  if (authProxy && !app.isFromProxy(authProxy, socket.remoteAddress)) delete headers[authProxy.header];
}

/** Reads what is left of a request that was answered before its end, so that its connection can bring the next one. */
function discardRest(request: IncomingMessage): void {
  if (request.complete) return;
  request.removeAllListeners("data");
  request.resume();
  setTimeout(() => request.complete || request.destroy(), 5_000).unref();
}

/**
 * In development, after an edit: takes the new code. If the edit changed what stays open between requests (the database, the
 * running replies, mail), that is closed and opened again.
 */
async function renew(): Promise<void> {
  const before = app;
  app = await load();
  if (app.createHandler === before.createHandler) return;
  if (app.openServices !== before.openServices) {
    await sockets.close();
    await opened.close(0, Promise.resolve());
    opened = await openOrExplain();
    sockets = app.createSockets(opened);
  }
  handle = app.createHandler(opened);
}

/** One after another: two requests at once must not open everything twice. A failed attempt concerns only its request. */
function renewInTurn(): Promise<void> {
  renewed = (renewed ?? Promise.resolve()).catch(() => {}).then(renew);
  return renewed;
}

async function openOrExplain(): ReturnType<App["open"]> {
  try {
    return await app.open();
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "ConfigError") throw error;
    console.error(error.message);
    process.exit(1);
  }
}

async function develop(): Promise<Front> {
  const { createServer: createVite } = await import("vite");
  const vite = await createVite({ server: { middlewareMode: true, hmr: { server } }, appType: "custom" });
  return { load: () => vite.ssrLoadModule("./app/server/handler.server.ts") as Promise<App>, files: vite.middlewares };
}

async function serveBuild(): Promise<Front> {
  const { default: sirv } = await import("sirv");
  const app = await import("./app/server/handler.server.ts");
  // Beside the built form of this file, which lies in build/server.
  const files = sirv(fileURLToPath(new URL("../client", import.meta.url)), {
    brotli: true,
    gzip: true,
    setHeaders(response, path) {
      const forever = path.startsWith("/assets/");
      response.setHeader("Cache-Control", forever ? "public, max-age=31536000, immutable" : "public, max-age=3600");
      response.setHeader("X-Content-Type-Options", "nosniff");
    },
  });
  return { load: async () => app, files };
}
