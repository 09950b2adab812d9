import type { AdminResource } from "./description.ts";
import { activity, yesNo } from "./words.ts";

export const webhooks: AdminResource<"webhook"> = {
  path: "webhook",
  many: "Avisos a programas",
  icon: "bell",
  one: "aviso a un programa",
  about:
    "Un aviso a un programa (webhook) le dice por HTTP lo que ha pasado aquí, firmado. Nunca lleva textos de nadie.",
  searches: "Nombre o dirección",
  changes: "put",
  columns: [
    { name: "name", label: "Nombre", sorted: true },
    { name: "address", label: "Dirección", sorted: true },
    { name: "replyEnded", label: "Respuestas", kind: "flag", sorted: true },
    { name: "personMade", label: "Cuentas", kind: "flag", sorted: true },
    { name: "limitReached", label: "Límites", kind: "flag", sorted: true },
    { name: "enabled", label: "Estado", kind: "flag", states: activity, sorted: true },
    { name: "problem", label: "Problema", sorted: true },
  ],
  filters: [{ name: "enabled", label: "Activo", choices: yesNo, flag: true }],
  fields: [
    { name: "name", label: "Nombre", required: true },
    {
      name: "address",
      label: "Dirección",
      required: true,
      hint: "Recibe un POST con JSON. Al guardarlo se prueba con uno de tipo «test».",
      editHint: "Si cambia, hay que escribir el secreto otra vez.",
    },
    {
      name: "secret",
      stored: { is: "hasSecret" },
      label: "Secreto",
      kind: "secret",
      hint: "Firma cada aviso como dice Standard Webhooks (webhook-signature). El programa tiene el mismo. No se enseña nunca.",
    },
    { name: "replyEnded", label: "Cuando acaba una respuesta (reply.ended)", kind: "flag" },
    { name: "personMade", label: "Cuando se crea una cuenta (person.created)", kind: "flag" },
    { name: "limitReached", label: "Cuando alguien llega a un límite de su plan (limit.reached)", kind: "flag" },
    { name: "enabled", label: "Activo", kind: "flag", initial: "true" },
  ],
};
