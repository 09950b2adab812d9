import { unescaped } from "../../../process/text/unescaped.ts";
import { parseXml } from "../../../process/text/xml.server.ts";
import type { Archive } from "../archive.server.ts";

/** Parts that a part of an Office document refers to (ECMA-376, part 2), in the order in which they are listed. */
export type Relation = { id: string; kind: string; path: string };

/** `relations`: to parts of the document, in their order. `addresses`: those outside that the part links to, by their ids. */
export type Relations = { relations: Relation[]; addresses: Map<string, string> };

/** `kind`: last word of the relation's type, such as «chart». Parts outside the document are left out. */
export const relationsOf = (archive: Archive, part: string): Relation[] => allRelationsOf(archive, part).relations;

export function allRelationsOf(archive: Archive, part: string): Relations {
  const [, folder = "", name = ""] = /^(.*\/)?([^/]+)$/.exec(part) ?? [];
  const relations: Relation[] = [];
  const addresses = new Map<string, string>();
  parseXml(archive.text(`${folder}_rels/${name}.rels`), {
    open(tag, { Id, Type = "", Target, TargetMode }) {
      if (tag !== "Relationship" || !Id || !Target) return;
      const path = TargetMode === "External" ? undefined : partPath(Target, folder);
      if (TargetMode === "External") addresses.set(Id, Target);
      else if (path) relations.push({ id: Id, kind: Type.slice(Type.lastIndexOf("/") + 1), path });
    },
  });
  return { relations, addresses };
}

/** Path of a part in its archive, by the address that another part gives for it; undefined if the address is invalid. */
export function partPath(address: string, from: string): string | undefined {
  const path = URL.parse(address, `file:///${encodeURI(from)}`)?.pathname.slice(1);
  return path ? unescaped(path) : undefined;
}
