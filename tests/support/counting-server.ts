// A server of tools (MCP) over its input and output that writes down each time it is called, to be started as a program.
import { appendFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const [, , file = ""] = process.argv;
const server = new McpServer({ name: "apuntes", version: "1" });
const described = {
  title: "Apuntar",
  description: "Writes a line down",
  inputSchema: z.object({ texto: z.string().describe("Lo que se apunta") }),
};
server.registerTool("apunta", described, async ({ texto }) => {
  appendFileSync(file, `${texto}\n`);
  // Long enough to be killed between the deed and the answer.
  await wait(40);
  return { content: [{ type: "text", text: `Apuntado: ${texto}` }] };
});
await server.connect(new StdioServerTransport());
