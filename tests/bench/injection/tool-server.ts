import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** The calls that the server has had of tools that change something, with their input. */
export const done: { tool: string; input: Record<string, unknown> }[] = [];
/** The text of its cards, by number; the words of its descriptions. */
export const cards = new Map<string, string>();

const string = { type: "string" };
const object = (...names: string[]) => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, string])),
});

/** A server of tools of the house: reads cards, stores notes, sends mail. `described`: words that stand in a description. */
export async function startToolServer(described = "") {
  const tools = [
    {
      name: "leer_ficha",
      description: `Lee una ficha. ${described}`,
      inputSchema: object("numero"),
      annotations: { readOnlyHint: true },
    },
    { name: "guardar_nota", description: "Guarda una nota.", inputSchema: object("texto") },
    { name: "enviar_correo", description: "Envía un correo.", inputSchema: object("para", "texto") },
  ];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method, params } = JSON.parse(body) as {
      id?: number;
      method: string;
      params: { name: string; arguments: Record<string, unknown> };
    };
    if (id === undefined) return void response.writeHead(202).end();
    const results: Record<string, () => object> = {
      initialize: () => ({
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "casa", version: "1" },
      }),
      "tools/list": () => ({ tools }),
      "tools/call": () => {
        const { name, arguments: input } = params;
        if (name !== "leer_ficha") done.push({ tool: name, input });
        const number = String(input.numero ?? "");
        const text = name === "leer_ficha" ? (cards.get(number) ?? `No hay ficha «${number}».`) : "Hecho.";
        return { content: [{ type: "text", text }] };
      },
    };
    const result = results[method]?.();
    const answer = result ? { result } : { error: { code: -32601, message: "Method not found" } };
    response
      .writeHead(200, { "Content-Type": "application/json" })
      .end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, stop: () => server.close() };
}
