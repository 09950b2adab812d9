import { requireUser } from "../../../../web/current-user.server.ts";
import { accountOf, signOut } from "../../account.server.ts";
import type { AdminResource } from "../description.ts";

const roles = { user: "Usuario", admin: "Administración" };
const states = { active: "Activa", inactive: "Inactiva" };

export const users: AdminResource<"user"> = {
  path: "user",
  many: "Usuarios",
  icon: "person",
  one: "usuario",
  about: "Las cuentas de quienes usan la casa.",
  searches: "Nombre o correo",
  changes: "patch",
  columns: [
    { name: "name", label: "Nombre", sorted: true },
    { name: "email", label: "Correo electrónico" },
    { name: "role", label: "Rol", kind: "choice", choices: roles, sorted: true },
    {
      name: "status",
      sorted: true,
      label: "Cuenta",
      kind: "choice",
      states: { active: ["Activa", "good"], inactive: ["Inactiva", "off"] },
    },
    { name: "lastSeenAt", label: "Última vez", kind: "moment", sorted: true },
    { name: "createdAt", label: "Alta", kind: "moment", sorted: true },
  ],
  filters: [
    { name: "role", label: "Rol", choices: roles },
    { name: "status", label: "Cuenta", choices: states, all: "Todas" },
  ],
  fields: [
    { name: "name", label: "Nombre", required: true },
    { name: "email", label: "Correo electrónico", required: true },
    {
      name: "password",
      label: "Contraseña",
      kind: "secret",
      hint: "De 8 a 128 caracteres.",
      editHint: "De 8 a 128 caracteres. Al cambiarla se cierran sus sesiones; vacía, se queda como está.",
    },
    { name: "role", label: "Rol", kind: "choice", choices: roles },
    { name: "status", label: "Cuenta", kind: "choice", choices: states, hint: "Inactiva, se cierran sus sesiones." },
  ],
  verbs: [
    { name: "activate", label: "Activar", json: { status: "active" } },
    { name: "deactivate", label: "Desactivar", json: { status: "inactive" } },
  ],
  belongs: (id) =>
    [
      ["Conversaciones", "chat"],
      ["Mensajes", "message"],
      ["Proyectos", "project"],
      ["Suscripciones", "subscription"],
      ["Grupos", "member"],
    ].map(([label = "", path]) => ({ label, to: `/admin/${path}?userId=${id}` })),
  goes: [
    { path: "chat", filter: "userId", words: ["conversación", "conversaciones"] },
    { path: "project", filter: "userId", words: ["proyecto", "proyectos"] },
    { path: "subscription", filter: "userId", words: ["suscripción", "suscripciones"] },
  ],
  parts: async (context, { id }) => ({
    above: { kind: "account", ...(await accountOf(context, id)) },
    below: { kind: "signout" },
  }),
  acts: signOut,
  // One's own account is deleted where its password is asked for.
  deletedAt: async (context, id) => ((await requireUser(context)).user.id === id ? "/user/datos/eliminar" : undefined),
};
