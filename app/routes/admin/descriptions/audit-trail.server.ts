import type { AdminResource } from "./description.ts";

const actions = {
  create: "Creación",
  update: "Cambio",
  delete: "Eliminación",
  signin: "Inicio de sesión",
  "signin-failed": "Inicio de sesión fallido",
  signout: "Cierre de sesión",
  "signout-others": "Cierre de las demás sesiones",
  signup: "Registro",
  "password-reset": "Recuperación de la contraseña",
  password: "Cambio de contraseña",
  email: "Cambio de correo",
  download: "Descarga",
};
const things = {
  user: "Usuario",
  session: "Sesión",
  authenticator: "Verificación en dos pasos",
  subscription: "Suscripción",
  model: "Modelo",
  training: "Entrenamiento",
  chat: "Conversación",
  message: "Mensaje",
  summary: "Resumen",
  project: "Proyecto",
  page: "Página",
  file: "Archivo",
  share: "Enlace",
  backup: "Copia",
  key: "Clave de programa",
};

export const auditTrail: AdminResource = {
  path: "audit",
  many: "Auditoría",
  icon: "history",
  one: "apunte",
  searches: "Acción, cosa o dirección IP",
  reads: ({ audit }) => ({ list: audit.$get, read: audit[":id"].$get }),
  columns: [
    { name: "action", label: "Acción", kind: "choice", choices: actions },
    { name: "resource", label: "Sobre", kind: "choice", choices: things },
    { name: "actorId", label: "Persona", kind: "person" },
    { name: "changes", label: "Cambios", kind: "changes" },
    { name: "ip", label: "Dirección IP" },
    { name: "createdAt", label: "Cuándo", kind: "moment", sorted: true },
  ],
  filters: [
    { name: "action", label: "Acción", choices: actions, all: "Todas" },
    { name: "resource", label: "Sobre", choices: things, all: "Todo" },
  ],
  fields: [],
};
