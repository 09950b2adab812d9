import type { IconName } from "../../ui/icon.tsx";
import { parts } from "../admin/descriptions/resources.server.ts";

/** The menu of the administration, in parts: sent to admins only, so that nobody else loads it. */
export type AdminMenu = { part: string; links: [path: string, icon: IconName, label: string][] }[];

const house: AdminMenu[number]["links"] = [["/casa", "house", "La casa"]];

const system: AdminMenu[number]["links"] = [
  ["/tratamiento", "document", "Tratamiento de datos"],
  ["/sistema", "server", "Sistema"],
];

export const administered: AdminMenu = parts.map(([part, resources]) => ({
  part,
  links: [
    ...(part === "Sistema" ? house : []),
    ...resources.map(({ path, icon, many }): AdminMenu[number]["links"][number] => [`/${path}`, icon, many]),
    ...(part === "Sistema" ? system : []),
  ],
}));
