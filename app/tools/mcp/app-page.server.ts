import { listOf, recordOf } from "../../process/text/json.ts";
import { ToolRefused } from "../tool.server.ts";
import type { AppPage, ListedTool } from "./server.ts";

const mediaType = /^text\/html\s*;\s*profile\s*=\s*"?mcp-app"?$/i;
const placesAtMost = 20;

/** Facts in a tool's `_meta` about its page (MCP Apps, `io.modelcontextprotocol/ui`), also as older servers say it. */
export function appOf(meta: unknown): Pick<ListedTool, "app" | "forApps"> {
  const ui = recordOf(recordOf(meta)?.ui) ?? {};
  const uri = ui.resourceUri ?? recordOf(meta)?.["ui/resourceUri"];
  const sees = listOf(ui.visibility);
  return {
    ...(typeof uri === "string" && /^ui:\/\/\S{1,500}$/.test(uri) && { app: uri }),
    ...(sees.length > 0 && !sees.includes("model") && { forApps: true as const }),
  };
}

/** The page among the contents of a resource. Throws ToolRefused where there is none. */
export function appPageIn(contents: unknown[]): AppPage {
  for (const content of contents.map(recordOf)) {
    if (!content || !mediaType.test(String(content.mimeType))) continue;
    const html =
      typeof content.text === "string"
        ? content.text
        : typeof content.blob === "string"
          ? Buffer.from(content.blob, "base64").toString("utf8")
          : undefined;
    if (html === undefined) continue;
    const csp = recordOf(recordOf(recordOf(content._meta)?.ui)?.csp) ?? {};
    return { html, takesFrom: originsIn(csp.resourceDomains), asks: originsIn(csp.connectDomains) };
  }
  throw new ToolRefused("El servidor no ha dado la página de esta herramienta.");
}

/** Web origins in a server's list, in the form that a policy may name; other items are left out. */
const originsIn = (list: unknown): string[] =>
  listOf(list)
    .flatMap((one) =>
      typeof one === "string" && /^https:\/\/(?:\*\.)?[a-z\d.-]{1,250}(?::\d{1,5})?$/i.test(one) ? [one] : [],
    )
    .slice(0, placesAtMost);
