import type { AdminResource } from "../description.ts";

const forms = { contact: "Contacto", support: "Soporte" };

export const inbox: AdminResource<"email"> = {
  path: "email",
  many: "Buzón",
  icon: "mail",
  one: "mensaje del buzón",
  about: "Aquí llega lo que se escribe en los formularios de contacto y de soporte.",
  searches: "Nombre, correo o texto",
  columns: [
    { name: "message", label: "Mensaje" },
    { name: "name", label: "Nombre" },
    { name: "email", label: "Correo electrónico" },
    { name: "kind", label: "Formulario", kind: "choice", choices: forms },
    { name: "sentAt", label: "Enviado por correo", kind: "moment" },
    { name: "createdAt", label: "Escrito", kind: "moment", sorted: true },
  ],
  filters: [{ name: "kind", label: "Formulario", choices: forms }],
  fields: [],
  whole: ["message"],
};
