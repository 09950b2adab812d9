import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { constants } from "node:zlib";
import * as build from "virtual:react-router/server-build";
import { compressResponse } from "@remix-run/response/compress";
import { sql } from "kysely";
import { createRequestHandler, RouterContextProvider } from "react-router";
import { createApi } from "../api/api.server.ts";
import type { InProcess, Services } from "../api/env.server.ts";
import { isBot } from "../http/bots.server.ts";
import { headerOf } from "../http/header.server.ts";
import { refuseMalformed } from "../http/request-line.server.ts";
import { addHeaders } from "../http/security-headers.server.ts";
import { answerMcp } from "../mcp/mcp.server.ts";
import { answerMetadata, challenge } from "../mcp/oauth-metadata.server.ts";
import { readConfig } from "../process/config.server.ts";
import { deriveKey } from "../process/crypto.server.ts";
import { createLog, type Log, pathInLog } from "../process/log.server.ts";
import { isFromProxy, plainAddress } from "../process/network/trusted-proxy.server.ts";
import { answerMetrics, measureProcess, requestSeconds } from "../process/telemetry/metrics.server.ts";
import { inRequest } from "../process/telemetry/request-trace.server.ts";
import { zoneOf } from "../process/time-zones.server.ts";
import { showLife } from "../process/work/workers.server.ts";
import { Sockets } from "../realtime/sockets.server.ts";
import { createClient } from "../web/api-client.server.ts";
import {
  apiContext,
  ipContext,
  keepContext,
  lightContext,
  logContext,
  nonceContext,
  purposeContext,
  routeContext,
  sessionContext,
} from "../web/context.ts";
import { wantsLight } from "../web/light/choice.server.ts";
import { WebSession } from "../web/session.server.ts";
import { followProxy } from "./proxy-entry.server.ts";
import { remoteApi, type Visitor } from "./remote-api.server.ts";
import { type Opened, openServices } from "./services.server.ts";
import { proxySocket } from "./socket-proxy.server.ts";
import { isSocket, tokenOf } from "./socket-upgrades.server.ts";

// `server.ts` compares `openServices` after an edit in development.
export { isFromProxy, openServices, refuseMalformed, showLife };

export type Handle = (request: Request, client: { ip: string }) => Promise<Response>;

/** Opens what this process needs, by the environment. Throws ConfigError for a wrong setting. */
export async function open(): Promise<Opened> {
  const config = readConfig();
  const { apiBaseUrl } = config;
  if (!apiBaseUrl) return openServices(config);
  return {
    services: undefined,
    config: { ...config, apiBaseUrl },
    log: createLog(config.logLevel),
    close: async () => {},
  };
}

// Paths that monitors of the process ask for every few seconds.
const probes = new Set(["/health", "/ready", "/metrics"]);

/** Request → Response: /v1 to the API, everything else to the pages, each with a context of its own. */
export function createHandler(opened: Opened): Handle {
  const api = apiOf(opened);
  const { config, log } = opened;
  const answerPage = pagesWith(opened, api.send);
  if (config.metricsToken) measureProcess();
  // Written at any log level, because a setting asks for these lines.
  const accessLog = config.accessLog ? createLog("info") : undefined;
  const mcp = async (request: Request, ip: string, origin: string) => {
    const shared = sharedWith(request, config.corsOrigins);
    if (shared && request.method === "OPTIONS") return new Response(null, { status: 204, headers: shared });
    const visitor = { ...visitorOf(request, ip), ofMcp: true };
    const response = await answerMcp(request, (call) => api.send(call, visitor), log);
    // If the API is on another machine, programs connect there.
    const answer = opened.services ? challenge(response, origin) : response;
    if (!shared) return answer;
    const { status, statusText, headers } = answer;
    return new Response(answer.body, { status, statusText, headers: [...headers, ...Object.entries(shared)] });
  };
  const answer = async (request: Request, ip: string, answeredBy: Answered) => {
    const url = new URL(request.url);
    if (url.pathname === "/health") return new Response("ok");
    if (url.pathname === "/ready") return ready(opened);
    if (url.pathname === "/metrics") return answerMetrics(request, config.metricsToken);
    if (url.pathname === "/v1" || url.pathname.startsWith("/v1/")) {
      return addHeaders(await api.answer(request, ip, answeredBy), request, "");
    }
    if (/^\/mcp\/?$/.test(url.pathname)) return addHeaders(await mcp(request, ip, url.origin), request, "");
    const metadata = opened.services && answerMetadata(request, url);
    if (metadata) return addHeaders(metadata, request, "");
    if (/^\/assets\/.*\.js$/.test(url.pathname)) return staleModule();
    if (isForeignForm(request, url)) return addHeaders(foreignForm(), request, "");
    // React Router refuses an origin that is no address by itself.
    if (request.headers.get("Origin") === "null") request.headers.delete("Origin");
    const response = await answerPage(request, ip, answeredBy);
    // The library reads its source without backpressure: a large download would be held in memory.
    if (response.headers.has("Content-Disposition")) return response;
    return compressResponse(response, request, compression(response));
  };
  return (request, client) =>
    inRequest(request.headers, async (trace) => {
      const ip = plainAddress(client.ip);
      const { requestId } = trace;
      const begun = performance.now();
      let route = "other";
      const response = await answer(request, ip, (answered) => {
        route = answered;
      });
      const labels = { method: request.method, route, status: String(response.status) };
      requestSeconds.observe(labels, (performance.now() - begun) / 1000);
      const { pathname } = new URL(request.url);
      if (!probes.has(pathname))
        accessLog?.info({
          ...{ method: request.method, path: pathInLog(pathname), status: response.status },
          ...{ ms: Math.round(performance.now() - begun), ip, personId: trace.personId },
        });
      if (!response.headers.has("X-Request-Id")) response.headers.set("X-Request-Id", requestId);
      return response;
    });
}

/** Sends a page's call to the API for a visitor. */
type Send = (call: Request, visitor: Visitor, inProcess?: InProcess) => Response | Promise<Response>;
/** The API: `answer` is for whoever calls /v1 on this server. */
type ApiCalls = {
  send: Send;
  answer(request: Request, ip: string, answeredBy: Answered): Response | Promise<Response>;
};
/** Callback that gets the pattern of the route that has answered. */
type Answered = (route: string) => void;

/** The API of this process or, with API_BASE_URL, that of another machine, which only pages call through this one. */
function apiOf({ services, config, log }: Opened): ApiCalls {
  if (!services) {
    const remote = remoteApi(config.apiBaseUrl, log);
    return {
      send: async (call, visitor, inProcess) => remote(await overTheNetwork(call, inProcess), visitor),
      answer: () => new Response(null, { status: 404 }),
    };
  }
  const api = createApi(services);
  return {
    send(call, { ip, userAgent, zone, ofMcp }, inProcess) {
      call.headers.set("User-Agent", userAgent);
      if (zone) call.headers.set("Time-Zone", zone);
      return api.fetch(call, { ip, ofMcp, ...inProcess });
    },
    answer: (request, ip, answeredBy) => api.fetch(request, { ip, answeredBy }),
  };
}

/** A call with its files in its body. */
const overTheNetwork = async (call: Request, { received }: Partial<InProcess> = {}): Promise<Request> =>
  received ? new Request(call, { body: await received.whole() }) : call;

/** The handler for pages. */
function pagesWith({ services, config, log }: Opened, send: Send) {
  const cookieKey = deriveKey(config.secret, "cookie");
  const pages = createRequestHandler(build, import.meta.env.MODE);
  return async (request: Request, ip: string, answeredBy: Answered): Promise<Response> => {
    const session = await WebSession.open(request, cookieKey);
    const nonce = randomBytes(12).toString("base64url");
    const visitor = visitorOf(request, ip);
    if (services && config.authProxy) await followProxy(services, config.authProxy, session, request, visitor);
    const { client, answered, asksPurpose } = createClient(
      (call, inProcess) => send(call, visitor, inProcess),
      session,
    );
    const context = new RouterContextProvider();
    context.set(apiContext, client);
    context.set(purposeContext, asksPurpose);
    context.set(sessionContext, session);
    context.set(logContext, log);
    context.set(nonceContext, nonce);
    context.set(ipContext, ip);
    context.set(routeContext, answeredBy);
    context.set(lightContext, await wantsLight(request));
    const answer = await pages(request, context).finally(answered);
    const response = answer.status >= 400 ? hideFromBots(sayInSpanish(answer, request), request, log) : answer;
    const reader = context.get(keepContext);
    if (reader && response.ok) response.headers.set("Keep-Copy", reader);
    for (const cookie of await session.commit()) response.headers.append("Set-Cookie", cookie);
    return addHeaders(response, request, nonce);
  };
}

const visitorOf = (request: Request, ip: string): Visitor => ({
  ip,
  userAgent: headerOf(request, "User-Agent"),
  signal: request.signal,
  zone: zoneOf(request),
});

/** Bots get only the status of an error, so that no error page is indexed; the status is logged. */
function hideFromBots(response: Response, request: Request, log: Log): Response {
  if (!isBot(request.headers.get("User-Agent"))) return response;
  const path = pathInLog(new URL(request.url).pathname);
  log.info({ status: response.status, path }, "página de error no mostrada a un robot");
  return new Response(null, { status: response.status });
}

/** The realtime connections of open pages. */
export function createSockets({ services, config, log }: Opened) {
  const cookieKey = deriveKey(config.secret, "cookie");
  const token = (request: IncomingMessage) => tokenOf(request, config, cookieKey);
  const sockets = services ? new Sockets(services, token) : proxyTo(config.apiBaseUrl, token);
  return {
    /** Takes an upgrade of the HTTP server if it is for a realtime connection; returns whether it is. */
    take(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
      if (!isSocket(request)) return false;
      // From here on nobody else handles errors of this socket; an unhandled reset would end the process.
      socket.on("error", () => socket.destroy());
      sockets.take(request, socket, head).catch((error: Error) => {
        log.error({ err: error }, "no se pudo abrir una conexión");
        socket.destroy();
      });
      return true;
    },
    close: async () => sockets.close(),
  };
}

/** Forwards connections to the API on another machine, with the access token of their request. */
const proxyTo = (base: string, token: (request: IncomingMessage) => Promise<string | undefined>) => ({
  take: async (request: IncomingMessage, socket: Duplex, head: Buffer) =>
    proxySocket(request, socket, head, base, await token(request)),
  close() {},
});

/**
 * Whether a form was sent from another site. Text browsers send no Origin, and browsers send `null` where a proxy forbids referrers: for
 * them only the token counts (`web/forms/form.server.ts`).
 */
function isForeignForm(request: Request, url: URL): boolean {
  const origin = request.headers.get("Origin");
  if (request.method === "GET" || request.method === "HEAD" || origin === null) return false;
  if (origin === "null") return request.headers.get("Sec-Fetch-Site") !== "same-origin";
  return origin !== url.origin;
}

const foreignForm = () =>
  plainPage(
    403,
    "Este formulario venía de otro sitio y no se ha enviado.",
    "Si administras este servidor y hay un proxy delante, le falta TRUST_PROXY=1 o PUBLIC_URL.",
  );

/** A request for a module of an older build is redirected to a module that reloads the page. */
const staleModule = () =>
  new Response(null, { status: 302, headers: { Location: "/stale.js", "Cache-Control": "no-store" } });

/**
 * React Router answers a line of English when not even the error page could be rendered, and JSON when a file or a redirect can't be shown;
 * people get a page in Spanish in place of both.
 */
function sayInSpanish(response: Response, request: Request): Response {
  const type = headerOf(response, "Content-Type");
  const isJson = type.startsWith("application/json") && headerOf(request, "Accept").includes("text/html");
  if (response.status < 400 || !(isJson || type.startsWith("text/plain"))) return response;
  return response.status === 403 || response.status === 404
    ? plainPage(response.status, "No existe o no puedes verlo.")
    : plainPage(response.status, "Algo ha fallado. Lo que ya estaba guardado sigue guardado.");
}

function plainPage(status: number, sentence: string, advice = ""): Response {
  return new Response(
    `<!doctype html><html lang="es"><meta charset="utf-8"><title>${sentence}</title><h1>${sentence}</h1>${advice && `<p>${advice}</p>`}<p><a href="/conversation/chat">Volver a las conversaciones</a></p></html>`,
    { status, headers: { "Content-Type": "text/html; charset=utf-8" } },
  );
}

/** Throws if the database can't be read or, with PostgreSQL, whose server may have been replaced by another, can't be written. */
async function askDatabase({ db, engine }: Pick<Services, "db" | "engine">): Promise<void> {
  if (engine === "sqlite") await db.selectFrom("models").select("id").limit(1).execute();
  else await db.deleteFrom("models").where(sql<boolean>`false`).execute();
}

/** Headers by which a page of one of these addresses may use `/mcp`; undefined for others. */
function sharedWith(request: Request, origins: string[]): Record<string, string> | undefined {
  const origin = request.headers.get("Origin");
  if (!origin || !origins.includes(origin)) return undefined;
  return {
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Allow-Methods": "POST, GET, DELETE, OPTIONS",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, MCP-Protocol-Version, Mcp-Session-Id",
    "Access-Control-Expose-Headers": "WWW-Authenticate, Mcp-Session-Id",
    Vary: "Origin",
  };
}

/** Readiness: 503 if the database does not answer or, in a process without an own API, if the remote API does not. */
async function ready({ services, config, log }: Opened): Promise<Response> {
  try {
    if (services) await askDatabase(services);
    else if (!(await fetch(`${config.apiBaseUrl}/auth/options`)).ok) throw new Error("the API refuses to answer");
    return new Response("ok");
  } catch (error) {
    log.warn({ err: error }, "no está listo");
    return new Response("no", { status: 503 });
  }
}

/**
 * A growing page (X-Live) is flushed at each piece, with a small compression window because there may be a thousand of
 * them.
 */
function compression(response: Response) {
  const encodings: ("br" | "gzip")[] = ["br", "gzip"];
  const live = response.headers.has("X-Live");
  response.headers.delete("X-Live");
  return {
    encodings,
    brotli: {
      flush: live ? constants.BROTLI_OPERATION_FLUSH : constants.BROTLI_OPERATION_PROCESS,
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 5,
        [constants.BROTLI_PARAM_LGWIN]: live ? 16 : 20,
      },
    },
    zlib: { flush: live ? constants.Z_SYNC_FLUSH : constants.Z_NO_FLUSH },
  };
}
