import type { AdminResource } from "../description.ts";

export const members: AdminResource<"member"> = {
  path: "member",
  many: "Miembros",
  icon: "member",
  one: "miembro",
  about: "Aquí está quién pertenece a cada grupo.",
  searches: "Persona",
  changes: "put",
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
