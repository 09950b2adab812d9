// A server of tools (MCP) over its input and output with a page for one of them, written with the protocol's own library for such pages.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const library = readFileSync(
  createRequire(import.meta.url).resolve("@modelcontextprotocol/ext-apps/app-with-deps"),
  "utf8",
);
// Its modules end by exporting names; within one document, the page takes them from there.
const inline = library.replace(/export\s*\{([^}]*)\}\s*;?\s*$/, (_, names: string) => {
  const pairs = names.split(",").map((one) => one.trim().split(/\s+as\s+/));
  return `globalThis.library = { ${pairs.map(([own, given = own]) => `${JSON.stringify(given)}: ${own}`).join(", ")} };`;
});
const page = `<!doctype html><html lang="es"><meta charset="utf-8"><title>Urna</title>
<body style="color:white"><p id="cuenta">Cargando</p><button id="otro">Votar sí</button><p id="fuera"></p>
<script type="module">${inline}</script>
<script type="module">
const { App } = globalThis.library;
const app = new App({ name: "urna", version: "1" }, {});
const show = (result) => {
  const { si, no } = result.structuredContent ?? {};
  document.getElementById("cuenta").textContent = "Síes: " + si + ", noes: " + no;
};
app.ontoolresult = show;
document.getElementById("otro").onclick = async () => {
  try { show(await app.callServerTool({ name: "votar", arguments: { voto: "si" } })); }
  catch (error) { document.getElementById("cuenta").textContent = "No: " + error.message; }
};
await app.connect();
const reached = [];
try { reached.push(document.cookie || "sin galletas"); } catch { reached.push("sin galletas"); }
try { reached.push(window.parent.document.title); } catch { reached.push("sin padre"); }
await fetch("https://fuera.example/").then(() => reached.push("con red"), () => reached.push("sin red"));
document.getElementById("fuera").textContent = reached.join(", ");
</script></body></html>`;

const votes = { si: 3, no: 1 };
const server = new McpServer({ name: "urna", version: "1" });
const outcome = () => ({
  content: [{ type: "text" as const, text: `Van ${votes.si} síes y ${votes.no} noes.` }],
  structuredContent: { ...votes },
});
const uri = "ui://urna/recuento";
server.registerTool(
  "recuento",
  {
    title: "Recuento",
    description: "Tells the votes",
    inputSchema: z.object({ asunto: z.string().describe("De qué se vota") }),
    annotations: { readOnlyHint: true },
    _meta: { ui: { resourceUri: uri } },
  },
  async () => outcome(),
);
server.registerTool(
  "votar",
  {
    title: "Votar",
    description: "Adds a vote",
    inputSchema: z.object({ voto: z.enum(["si", "no"]) }),
    _meta: { ui: { visibility: ["app"] } },
  },
  async ({ voto }) => {
    votes[voto]++;
    return outcome();
  },
);
server.registerResource("recuento", uri, { mimeType: "text/html;profile=mcp-app" }, async () => ({
  contents: [{ uri, mimeType: "text/html;profile=mcp-app", text: page }],
}));
await server.connect(new StdioServerTransport());
