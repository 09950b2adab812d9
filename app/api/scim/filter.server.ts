import { ScimError } from "./scim-error.server.ts";

/** Values that a list is asked for, by attribute in lowercase. */
export type Wanted = Map<string, string>;

const comparison = /^([\w.:$-]+(?:\[[^\]"]*"[^"]*"\]\.\w+)?) eq ("(?:[^"\\]|\\.)*"|true|false)/i;
const and = " and ";

/**
 * A filter as providers of identities send them (RFC 7644, 3.4.2.2): equalities joined by `and`. `attributes`: those that can be asked for,
 * in lowercase; `emails[type eq "work"].value` counts as `emails.value`. Throws ScimError.
 */
export function readFilter(said: string | undefined, attributes: readonly string[]): Wanted {
  const wanted: Wanted = new Map();
  if (said === undefined) return wanted;
  if (said.length > 2_000) throw notUnderstood();
  for (let rest = said.trim(); ; ) {
    const [whole, path, value] = comparison.exec(rest) ?? [];
    const attribute = path && shortPath(path);
    if (!whole || !attribute || value === undefined || !attributes.includes(attribute)) throw notUnderstood();
    const text = value.startsWith('"') ? textOf(value) : value;
    wanted.set(attribute, attribute === "active" ? text.toLowerCase() : text);
    rest = rest.slice(whole.length);
    if (rest === "") return wanted;
    if (rest.slice(0, and.length).toLowerCase() !== and) throw notUnderstood();
    rest = rest.slice(and.length);
  }
}

/** A path without the schema's name before it and the choice in it, in lowercase: `emails[type eq "work"].value` is `emails.value`. */
export function shortPath(path: string): string {
  const own = path.replace(/^urn:ietf:params:scim:schemas:core:2\.0:(?:User|Group):/i, "");
  const [from, to] = [own.indexOf("["), own.indexOf("]")];
  return (from < 0 || to < from ? own : own.slice(0, from) + own.slice(to + 1)).toLowerCase();
}

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
