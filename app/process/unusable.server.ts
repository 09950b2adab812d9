import { userInfo } from "node:os";
import { faultOf } from "./fault.ts";

/** Reason why this process can't use a file or folder, to follow its name in a sentence; undefined for other errors. */
export function whyUnusable(error: unknown): string | undefined {
  const { code } = faultOf(error);
  if (code === "EACCES" || code === "EPERM") {
    return `no deja leer ni escribir al usuario que ejecuta Tertulia (${user()}): dáselo con chown`;
  }
  if (code === "EROFS") return "está en un disco de solo lectura";
  if (code === "ENOSPC" || code === "EDQUOT") return "está en un disco en el que no queda sitio";
  if (code === "ENOTDIR" || code === "EEXIST") return "no es una carpeta";
  if (code === "EIO") return "está en un disco que no se puede leer";
}

/** The user of this process by name; a user without a name, as in a container, by number. */
function user(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.());
  }
}
