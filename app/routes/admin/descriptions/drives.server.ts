import { type AdminResource, forGroups } from "./description.ts";
import { activity, yesNo } from "./words.ts";

export const drives: AdminResource<"drive"> = {
  path: "drive",
  many: "Servidores de archivos",
  icon: "server",
  one: "servidor de archivos",
  about: "De un servidor de archivos (Nextcloud, WebDAV) cada persona añade carpetas suyas a sus proyectos.",
  searches: "Nombre o dirección",
  changes: "put",
  columns: [
    { name: "name", label: "Nombre", sorted: true },
    { name: "address", label: "Dirección", sorted: true },
    { name: "enabled", label: "Estado", kind: "flag", states: activity, sorted: true },
  ],
  filters: [{ name: "enabled", label: "Activo", choices: yesNo, flag: true }],
  fields: [
    { name: "name", label: "Nombre", required: true },
    {
      name: "address",
      label: "Dirección",
      required: true,
      hint: "De un Nextcloud u ownCloud, la de su página, como https://nube.ejemplo.es. De otro servidor, la de su WebDAV. Se prueba al guardarla.",
    },
    {
      name: "enabled",
      label: "Activo",
      kind: "flag",
      initial: "true",
      hint: "Cada persona conecta allí su cuenta, con una contraseña de aplicación, desde un proyecto. Apagado, sus carpetas no se miran, y sus documentos se borran al día siguiente.",
    },
    forGroups,
  ],
};
