import { read } from "../../../../web/api-result.server.ts";
import { apiContext } from "../../../../web/context.ts";
import type { AdminResource } from "../description.ts";

const roles = { user: "Usuario", admin: "Administración" };

export const invitations: AdminResource<"invitation"> = {
  path: "invitation",
  many: "Invitaciones",
  icon: "send",
  one: "invitación",
  about: "Una invitación deja entrar a alguien con el registro cerrado, y le da su rol.",
  feminine: true,
  searches: "Correo",
  changes: "put",
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
    { name: "groupIds", label: "Grupos", kind: "groups", hint: "Sin marcar ninguno: ninguno." },
  ],
  async parts(context, { id, usedAt }, url) {
    if (usedAt) return undefined;
    const { path } = await read(context.get(apiContext).api.invitation[":id"].link.$get({ param: { id } }));
    return { above: { kind: "link", link: url.origin + path } };
  },
};
