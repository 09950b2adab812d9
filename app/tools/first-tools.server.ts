import { v7 as newId } from "uuid";
import type { Db } from "../db/engine.server.ts";
import type { ToolRow } from "../db/tables.ts";
import type { Config } from "../process/config.server.ts";
import { encrypt } from "../process/crypto.server.ts";
import { storedJson } from "../process/text/json.ts";
import type { ToolServer } from "../process/tool-servers.server.ts";
import type { Program } from "./mcp/server.ts";
import type { ToolSettings } from "./settings.ts";

/** Sources of tools at the first start. */
type Given = Pick<Config, "toolServers" | "searxngUrl" | "braveKey" | "tavilyKey">;

type First = Pick<ToolRow, "name" | "kind" | "address"> & { secret: string | null; settings: ToolSettings };

/** The programs that the environment allows to be started, by name. */
export const programsIn = (servers: Record<string, ToolServer>): Record<string, Program> =>
  Object.fromEntries(
    Object.entries(servers).flatMap(([name, server]) => ("command" in server ? [[name, server]] : [])),
  );

/** Adds the tools that the environment names and that are not there yet. Tools that are there stay as the administrator left them. */
export async function addTools({ db, toolKey }: { db: Db; toolKey: Buffer }, given: Given): Promise<void> {
  const wanted = firstTools(given);
  if (wanted.length === 0) return;
  const rows = await db.selectFrom("tools").select(["name", "kind", "settings"]).execute();
  const isThere = ({ name, kind, settings }: First) =>
    rows.some((row) =>
      kind !== "mcp"
        ? row.kind === kind
        : row.kind === "mcp" &&
          (row.name === name ||
            (settings.program !== undefined && storedJson<ToolSettings>(row.settings).program === settings.program)),
    );
  for (const [index, one] of wanted.filter((first) => !isThere(first)).entries()) {
    const id = newId();
    const now = Date.now();
    const { secret, settings, ...named } = one;
    await db
      .insertInto("tools")
      .values({
        id,
        createdAt: now,
        updatedAt: now,
        ...named,
        secret: secret && encrypt(secret, toolKey, id),
        settings: JSON.stringify(settings),
        allowed: "everyone",
        enabled: 1,
        seconds: 30,
        kilobytes: 32,
        listed: "[]",
        listedAt: null,
        problem: null,
        access: null,
        position: rows.length + index,
      })
      .execute();
  }
}

function firstTools({ toolServers, searxngUrl, braveKey, tavilyKey }: Given): First[] {
  const search = (kind: "searxng" | "brave" | "tavily", address: string | null, secret: string | null): First => ({
    name: "Buscar en la web",
    kind,
    address,
    secret,
    settings: {},
  });
  const servers = Object.entries(toolServers).map(([name, server]): First => {
    if ("command" in server) return { name, kind: "mcp", address: null, secret: null, settings: { program: name } };
    const headers = Object.entries(server.headers).map(([header, value]) => `${header}: ${value}`);
    return { name, kind: "mcp", address: server.url, secret: headers.join("\n") || null, settings: {} };
  });
  return [
    // Only the first search service is added: two would offer the same tool twice.
    ...[
      searxngUrl ? [search("searxng", searxngUrl, null)] : [],
      braveKey ? [search("brave", null, braveKey)] : [],
      tavilyKey ? [search("tavily", null, tavilyKey)] : [],
    ]
      .flat()
      .slice(0, 1),
    ...servers,
  ];
}
