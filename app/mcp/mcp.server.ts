import { BodyRefused, boundedBody } from "../http/bounded-body.server.ts";
import { headerOf } from "../http/header.server.ts";
import { limits } from "../process/limits.ts";
import type { Log } from "../process/log.server.ts";
import { OwnApi, type Send } from "./own-api.server.ts";

/**
 * Tertulia as a server of the Model Context Protocol (modelcontextprotocol.io/specification/2026-07-28, and the stateless way of the
 * revisions before), for programs with a key of their owner. No request leaves anything behind, so that any process may take the next one.
 * The person is known before the body is read.
 */
export async function answerMcp(request: Request, send: Send, log: Log): Promise<Response> {
  const authorization = headerOf(request, "Authorization");
  const person = await send(new Request("http://api/auth/person", { headers: { Authorization: authorization } }));
  if (!person.ok) return person;
  const { id }: { id: string } = await person.json();
  const own = new OwnApi(send, authorization, id);
  try {
    const handler = await handlerFor(own, log);
    return await handler.fetch(await withBody(request));
  } catch (error) {
    if (!(error instanceof BodyRefused)) throw error;
    return refusedBody(error);
  }
}

/** The same request, its body read within bounds. */
async function withBody(request: Request): Promise<Request> {
  const { method, url, headers, signal } = request;
  if (!request.body) return new Request(url, { method, headers, signal });
  const body = Buffer.concat(await Array.fromAsync(boundedBody(request, { maxSize: limits.jsonBody })));
  return new Request(url, { method, headers, signal, body });
}

async function handlerFor(own: OwnApi, log: Log) {
  // Loaded when the first program comes: most installations have none.
  const [{ createMcpHandler, McpServer }, { chatTools }, { documentTools }] = await Promise.all([
    import("@modelcontextprotocol/server"),
    import("./chat-tools.server.ts"),
    import("./document-tools.server.ts"),
  ]);
  const makeServer = () => {
    const server = new McpServer({ name: "tertulia", title: "Tertulia", version: "1" });
    for (const register of [...chatTools, ...documentTools]) register(server, own);
    return server;
  };
  const onerror = (err: Error) => log.info({ err }, "petición MCP rechazada");
  return createMcpHandler(makeServer, { onerror, maxRequestBodySize: limits.jsonBody });
}

function refusedBody({ reason }: BodyRefused): Response {
  const [status, message] =
    reason === "large" ? [413, "La petición es demasiado grande."] : [408, "La petición no acababa de llegar."];
  return Response.json({ jsonrpc: "2.0", id: null, error: { code: -32600, message } }, { status: Number(status) });
}
