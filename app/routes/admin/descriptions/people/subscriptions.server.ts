import type { AdminResource } from "../description.ts";

const plans = { gratis: "Gratis", pro: "Pro", equipo: "Equipo" };
const payments = { active: "Activa", past_due: "Pendiente de pago", canceled: "Cancelada" };

export const subscriptions: AdminResource<"subscription"> = {
  path: "subscription",
  many: "Suscripciones",
  icon: "crown",
  one: "suscripción",
  about: "Una suscripción da a alguien los límites de un plan: mensajes al día y espacio.",
  feminine: true,
  searches: "Persona o plan",
  changes: "put",
  columns: [
    { name: "userId", label: "Persona", kind: "person" },
    { name: "plan", label: "Plan", kind: "choice", choices: plans },
    {
      name: "status",
      label: "Estado",
      kind: "choice",
      states: { active: ["Activa", "good"], past_due: ["Pendiente de pago", "bad"], canceled: ["Cancelada", "off"] },
    },
    { name: "messagesPerDay", label: "Mensajes al día", kind: "number" },
    { name: "tokensPerMonth", label: "Tokens al mes", kind: "number" },
    { name: "storageMb", label: "Espacio, MB", kind: "number" },
    { name: "startsAt", label: "Desde", kind: "moment" },
    { name: "endsAt", label: "Hasta", kind: "moment", hidden: true },
  ],
  filters: [
    { name: "plan", label: "Plan", choices: plans },
    { name: "status", label: "Estado", choices: payments },
  ],
  fields: [
    { name: "userId", label: "Persona", kind: "person", required: true },
    { name: "plan", label: "Plan", kind: "choice", choices: plans, half: true },
    { name: "status", label: "Estado", kind: "choice", choices: payments, half: true },
    { name: "startsAt", label: "Desde", kind: "moment", required: true, initial: "now" },
    { name: "endsAt", label: "Hasta", kind: "moment", hint: "Vacío: sin final." },
    { name: "messagesPerDay", label: "Mensajes al día", kind: "number", hint: "Vacío: sin límite.", half: true },
    { name: "tokensPerMonth", label: "Tokens al mes", kind: "number", hint: "Vacío: sin límite.", half: true },
    { name: "storageMb", label: "Espacio, en MB", kind: "number", hint: "Vacío: sin límite.", half: true },
  ],
  presets: [
    {
      name: "gratis",
      label: "Gratis",
      values: { plan: "gratis", messagesPerDay: "50", tokensPerMonth: "500000", storageMb: "200" },
    },
    {
      name: "pro",
      label: "Pro",
      values: { plan: "pro", messagesPerDay: "500", tokensPerMonth: "10000000", storageMb: "5000" },
    },
    {
      name: "equipo",
      label: "Equipo",
      values: { plan: "equipo", messagesPerDay: "", tokensPerMonth: "", storageMb: "20000" },
    },
  ],
};
