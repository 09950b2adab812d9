import { unescaped } from "../../../process/text/unescaped.ts";
import { parseXml } from "../../../process/text/xml.server.ts";
import type { Archive } from "../archive.server.ts";

/** Parts that a part of an Office document refers to (ECMA-376, part 2), in the order in which they are listed. */
export type Relation = { id: string; kind: string; path: string };

/** `kind`: last word of the relation's type, such as «chart». Parts outside the document are left out. */
export function relationsOf(archive: Archive, part: string): Relation[] {
  const [, folder = "", name = ""] = /^(.*\/)?([^/]+)$/.exec(part) ?? [];
  const found: Relation[] = [];
  parseXml(archive.text(`${folder}_rels/${name}.rels`), {
    open(tag, { Id, Type = "", Target, TargetMode }) {
      if (tag !== "Relationship" || !Id || !Target || TargetMode === "External") return;
      const path = partPath(Target, folder);
      if (path) found.push({ id: Id, kind: Type.slice(Type.lastIndexOf("/") + 1), path });
    },
  });
  return found;
}

/** Path of a part in its archive, by the address that another part gives for it; undefined if the address is invalid. */
export function partPath(address: string, from: string): string | undefined {
  const path = URL.parse(address, `file:///${encodeURI(from)}`)?.pathname.slice(1);
  return path ? unescaped(path) : undefined;
}
