import type { AdminResource } from "../description.ts";

const roles = { user: "Usuario", admin: "Administración" };

export const invitations: AdminResource = {
  path: "invitation",
  many: "Invitaciones",
  icon: "send",
  one: "invitación",
  feminine: true,
  searches: "Correo",
  reads: ({ invitation }) => ({ list: invitation.$get, read: invitation[":id"].$get }),
  writes: ({ invitation }) => ({
    create: invitation.$post,
    change: invitation[":id"].$put,
    remove: invitation[":id"].$delete,
  }),
  columns: [
    { name: "createdAt", label: "Creada", kind: "moment", sorted: true },
    { name: "email", label: "Correo" },
    { name: "role", label: "Rol", kind: "choice", choices: roles },
    { name: "expiresAt", label: "Vale hasta", kind: "moment" },
    { name: "usedAt", label: "Usada", kind: "moment" },
    { name: "userId", label: "Cuenta", kind: "person" },
  ],
  filters: [{ name: "role", label: "Rol", choices: roles }],
  fields: [
    {
      name: "email",
      label: "Correo",
      nullable: true,
      hint: "De quién será la cuenta: si se envían correos, recibe el enlace. Vacío: de quien tenga el enlace, que está en su ficha.",
    },
    { name: "role", label: "Rol", kind: "choice", choices: roles, initial: "user" },
    { name: "groupIds", label: "Grupos", kind: "groups", hint: "Uno en cada línea. Vacío: ninguno." },
  ],
};
