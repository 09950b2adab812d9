import { type AdminResource, forGroups } from "../description.ts";

export const notices: AdminResource<"notice"> = {
  path: "notice",
  many: "Avisos",
  icon: "bell",
  one: "aviso",
  about: "Un aviso sale arriba en las páginas de todas las personas hasta que lo leen o termina.",
  searches: "Texto",
  changes: "put",
  columns: [
    { name: "text", label: "Texto" },
    { name: "endsAt", label: "Hasta", kind: "moment" },
    { name: "createdAt", label: "Creado", kind: "moment", sorted: true },
  ],
  filters: [],
  fields: [
    {
      name: "text",
      label: "Texto",
      kind: "area",
      required: true,
      hint: "Sale en todas las páginas de cada persona hasta que dice «Entendido». Si cambia, vuelve a salir.",
    },
    { name: "endsAt", label: "Hasta", kind: "moment", hint: "Vacío: hasta que se elimine." },
    forGroups,
  ],
};
