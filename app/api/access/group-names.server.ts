import type { AccessRow } from "../../db/tables.ts";

/** A part of a directory's name without its escapes (RFC 4514, 2.4): «Obras\2C parques» and «Obras\, parques» are the same. */
export const unescapedName = (name: string): string =>
  name
    .replace(/(?:\\[\da-f]{2})+/gi, (pairs) => Buffer.from(pairs.replaceAll("\\", ""), "hex").toString("utf8"))
    .replace(/\\(.)/g, "$1");

/**
 * Tells whether a group is among those that a provider has named. A directory takes no notice of case, nor of blanks between parts of a name
 * (RFC 4517); for OpenID Connect «Admin» and «admin» may be groups of different people.
 */
export function namedGroups(kind: AccessRow["kind"], names: string[]): (name: string) => boolean {
  const key = kind === "ldap" ? directoryKey : (name: string) => name;
  const named = new Set(names.map(key));
  return (name) => named.has(key(name));
}

const directoryKey = (name: string): string =>
  unescapedName(name)
    .normalize("NFC")
    .replace(/ ?([,=+]) ?/g, "$1")
    .trim()
    .toLowerCase();
