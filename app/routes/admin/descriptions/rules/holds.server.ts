import type { AdminResource } from "../description.ts";

export const holds: AdminResource = {
  path: "hold",
  many: "Suspensiones de borrado",
  icon: "pin",
  one: "suspensión de borrado",
  feminine: true,
  searches: "Motivo o persona",
  reads: ({ hold }) => ({ list: hold.$get, read: hold[":id"].$get }),
  writes: ({ hold }) => ({ create: hold.$post, change: hold[":id"].$put, remove: hold[":id"].$delete }),
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
