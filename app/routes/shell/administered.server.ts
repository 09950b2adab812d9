import { resources } from "../admin/descriptions/resources.server.ts";

/** The menu of the administration: sent to admins only, so that nobody else loads it. */
export const administered = [
  ["", "dashboard", "Panel"],
  ...resources.map(({ path, icon, many }): [string, string, string] => [`/${path}`, icon, many]),
  ["/tratamiento", "book", "Tratamiento de datos"],
  ["/sistema", "server", "Sistema"],
] as const;
