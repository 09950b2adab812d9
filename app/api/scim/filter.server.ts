import { ScimError } from "./scim-error.server.ts";

/** Values that a list is asked for, by attribute in lowercase. */
export type Wanted = Map<string, string>;

const comparison = /^\s*([\w.:$-]+(?:\[[^\]"]*"[^"]*"\s*\]\.\w+)?)\s+eq\s+("(?:[^"\\]|\\.)*"|true|false)\s*$/i;

/**
 * A filter as providers of identities send them (RFC 7644, 3.4.2.2): equalities joined by `and`. `attributes`: those that can be asked for,
 * in lowercase; `emails[type eq "work"].value` counts as `emails.value`. Throws ScimError.
 */
export function readFilter(said: string | undefined, attributes: readonly string[]): Wanted {
  const wanted: Wanted = new Map();
  if (said === undefined) return wanted;
  if (said.length > 2_000) throw notUnderstood();
  for (const part of said.split(/\s+and\s+(?=[\w.]+(?:\[[^\]]*\]\.\w+)?\s+eq\s)/i)) {
    const [, path, value] = comparison.exec(part) ?? [];
    if (!path || value === undefined) throw notUnderstood();
    const attribute = shortPath(path);
    if (!attributes.includes(attribute)) throw notUnderstood();
    const text = value.startsWith('"') ? textOf(value) : value;
    wanted.set(attribute, attribute === "active" ? text.toLowerCase() : text);
  }
  return wanted;
}

/** A path without the schema's name before it and the choice in it, in lowercase: `emails[type eq "work"].value` is `emails.value`. */
export const shortPath = (path: string): string =>
  path
    .replace(/^urn:ietf:params:scim:schemas:core:2\.0:(?:User|Group):/i, "")
    .replace(/\[[^\]]*\]/, "")
    .toLowerCase();

const notUnderstood = () =>
  new ScimError(400, 'Ese filtro no se entiende: se busca por igualdad (userName eq "…").', "invalidFilter");

function textOf(quoted: string): string {
  try {
    // PostgreSQL stores no NUL, and so finds none.
    return String(JSON.parse(quoted)).replaceAll("\0", "");
  } catch {
    throw notUnderstood();
  }
}
