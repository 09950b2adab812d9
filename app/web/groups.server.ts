import { cutText } from "../process/text/cut-text.ts";
import { read } from "./api-result.server.ts";
import { apiContext, type Context } from "./context.ts";

// As many as a list answers at once.
const atOnce = "100";

/** All groups of the installation by their ids. Only for who administers. */
export async function listGroups(context: Context): Promise<Map<string, string>> {
  const { group } = context.get(apiContext).api;
  const names = new Map<string, string>();
  for (let cursor: string | undefined; ; ) {
    const page = await read(group.$get({ query: { limit: atOnce, ...(cursor && { cursor }) } }));
    for (const { id, name } of page.items) names.set(id, name);
    if (!page.nextCursor) return names;
    cursor = page.nextCursor;
  }
}

/** The names of groups, one a line; a group that is gone stays as its id, so that what was for it does not become everybody's. */
export async function sayGroups(context: Context, ids: string[] | null): Promise<string> {
  if (!ids || ids.length === 0) return "";
  const names = await listGroups(context);
  return ids.map((id) => names.get(id) ?? id).join("\n");
}

/**
 * The ids of groups that are written one a line, whatever their case; null for none. Words that are no name stay, for the API to refuse.
 */
export async function readGroups(context: Context, text: string): Promise<string[] | null> {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  if (lines.length === 0) return null;
  const ids = new Map([...(await listGroups(context))].map(([id, name]) => [name.toLowerCase(), id]));
  return lines.map((line) => ids.get(line.toLowerCase()) ?? cutText(line, 64));
}
