import type { AdminResource } from "./description.ts";

const actions = {
  create: "Creación",
  update: "Cambio",
  delete: "Eliminación",
  signin: "Inicio de sesión",
  "signin-failed": "Inicio de sesión fallido",
  "signin-locked": "Entrada bloqueada por demasiados intentos",
  signout: "Cierre de sesión",
  "signout-others": "Cierre de las demás sesiones",
  signup: "Registro",
  "password-reset": "Recuperación de la contraseña",
  password: "Cambio de contraseña",
  email: "Cambio de correo",
  download: "Descarga",
  accept: "Aceptación",
  retention: "Borrado por una regla",
  read: "Lectura",
  join: "Unión con una cuenta de fuera",
  "sign-in": "Entrada en un servidor conectado",
  "sign-out": "Salida de un servidor conectado",
  "read-untold": "Lectura sin avisar",
};
// Things that are no resource of the administration.
const others = {
  session: "Sesión",
  authenticator: "Verificación en dos pasos",
  file: "Archivo",
  share: "Enlace",
  backup: "Copia",
  key: "Clave de programa",
  passkey: "Llave de acceso",
  audit: "Auditoría",
  usage: "Uso",
  house: "La casa",
  batch: "Preguntas en serie",
  artifact: "Escrito",
  errand: "Encargo",
};

/** `things`: words for the kinds of things that entries are about, by their names in the audit trail. */
export const auditTrail = (things: Record<string, string>): AdminResource<"audit"> => ({
  path: "audit",
  many: "Auditoría",
  icon: "history",
  one: "apunte",
  about: "Aquí queda cada cambio: quién, qué y cuándo.",
  searches: "Acción, cosa o dirección IP",
  columns: [
    { name: "action", label: "Acción", kind: "choice", choices: actions },
    { name: "resource", label: "Sobre", kind: "choice", choices: { ...things, ...others } },
    { name: "actorId", label: "Persona", kind: "person" },
    { name: "changes", label: "Cambios", kind: "changes" },
    { name: "ip", label: "Dirección IP" },
    { name: "createdAt", label: "Cuándo", kind: "moment", sorted: true },
  ],
  filters: [
    { name: "action", label: "Acción", choices: actions, all: "Todas" },
    { name: "resource", label: "Sobre", choices: { ...things, ...others }, all: "Todo" },
  ],
  fields: [],
  lines: true,
});
