import { extname } from "node:path";

/** Path of a file in the archive of everything of a person. */
export function pathInArchive(id: string, name: string): string {
  const ending = extname(name);
  return `archivos/${fileName(name.slice(0, name.length - ending.length))} ${id.slice(-6)}${ending}`;
}

// Characters that some file system does not allow in names.
const notInNames = /[/\\:*?"<>|\p{Cc}\p{Cf}]+/gu;

/** A title as a file name without extension. */
export function fileName(title: string): string {
  const name = [...title.replace(notInNames, " ").replace(/\s+/g, " ").trim()].slice(0, 60).join("").toWellFormed();
  return name.replace(/[. ]+$/, "") || "conversacion";
}
