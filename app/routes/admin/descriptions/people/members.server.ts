import type { AdminResource } from "../description.ts";

export const members: AdminResource = {
  path: "member",
  many: "Miembros",
  icon: "users",
  one: "miembro",
  searches: "Persona",
  reads: ({ member }) => ({ list: member.$get, read: member[":id"].$get }),
  writes: ({ member }) => ({ create: member.$post, change: member[":id"].$put, remove: member[":id"].$delete }),
  columns: [
    { name: "userId", label: "Persona", kind: "person" },
    { name: "groupId", label: "Grupo", kind: "group" },
    {
      name: "byHand",
      label: "Quién lo dice",
      kind: "choice",
      choices: { true: "Puesto a mano", false: "Su proveedor" },
    },
    { name: "createdAt", label: "Desde", kind: "moment", sorted: true },
  ],
  filters: [],
  fields: [
    { name: "groupId", label: "Grupo", kind: "group", required: true },
    { name: "userId", label: "Persona", kind: "person", required: true },
  ],
};
