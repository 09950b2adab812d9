import { z } from "zod";
import { objectOf, recordOf } from "./text/json.ts";

/** A server of tools (MCP): at an address, or a program on this machine that is started. */
export type ToolServer =
  | { url: string; headers: Record<string, string> }
  | { command: string; args: string[]; env: Record<string, string> };

const form =
  'MCP_SERVERS es un objeto JSON con un servidor en cada nombre: {"notas": {"url": "https://…/mcp"}, "local": {"command": "…", "args": []}}';
const value = z.union([z.string(), z.number(), z.boolean()], "hay algo que no es un texto").transform(String);
const values = (name: string) => z.record(z.string(), value, `${name} es un objeto: {"NOMBRE": "valor"}`).default({});
const remote = z.object({
  url: z.url({ protocol: /^https?$/, error: "url es una dirección http o https" }),
  headers: values("headers"),
});
const program = z.object({
  command: z.string("command es el nombre de un programa").min(1, "command está vacío"),
  args: z.array(value, 'args es una lista: ["-y", "…"]').default([]),
  env: values("env"),
});

/** Reads MCP_SERVERS, also as other programs have it in their files. Answers a sentence for what is wrong with it. */
export function readToolServers(text: string): Record<string, ToolServer> | string {
  const whole = objectOf(text);
  const entries = whole && recordOf(whole.mcpServers ?? whole);
  if (!entries) return form;
  const servers: Record<string, ToolServer> = {};
  for (const [name, entry] of Object.entries(entries)) {
    const given = recordOf(entry);
    if (!given) return form;
    const server = withoutNulls(given);
    if (server.type === "sse" || server.transport === "sse") {
      return `MCP_SERVERS: «${name}» habla SSE, que MCP ha dejado. Pon la dirección de su Streamable HTTP, que suele acabar en /mcp`;
    }
    const read = (server.command === undefined ? remote : program).safeParse(server);
    if (!read.success) return `MCP_SERVERS: en «${name}», ${read.error.issues[0]?.message}`;
    servers[name] = read.data;
  }
  return servers;
}

/** An entry without nulls, in its inner objects as well: other programs take null for absent. */
const withoutNulls = (given: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(given)
      .filter(([, one]) => one !== null)
      .map(([name, one]) => [name, recordOf(one) ? withoutNulls(recordOf(one) ?? {}) : one]),
  );
