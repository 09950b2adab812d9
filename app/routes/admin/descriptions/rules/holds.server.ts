import type { AdminResource } from "../description.ts";

export const holds: AdminResource<"hold"> = {
  path: "hold",
  many: "Suspensiones de borrado",
  icon: "pin",
  one: "suspensión de borrado",
  about: "Mientras dura una suspensión, de esa persona no se borra nada.",
  feminine: true,
  searches: "Motivo o persona",
  changes: "put",
  columns: [
    { name: "userId", label: "Persona", kind: "person" },
    { name: "reason", label: "Motivo" },
    { name: "createdAt", label: "Desde", kind: "moment", sorted: true },
  ],
  filters: [],
  fields: [
    {
      name: "userId",
      label: "Persona",
      kind: "person",
      required: true,
      hint: "Mientras dure, nadie puede eliminar lo suyo: ni las reglas de conservación, ni esta persona, ni quien administra.",
    },
    { name: "reason", label: "Motivo", kind: "area" },
  ],
};
