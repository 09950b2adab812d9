import type { Client } from "../../../web/api-client.server.ts";

export type Processing = Awaited<
  ReturnType<Awaited<ReturnType<Client["api"]["system"]["processing"]["$get"]>>["json"]>
>;
type Kept = Processing["kept"][number];
type Recipient = Processing["recipients"][number];

const things: Record<Kept["kind"], string> = {
  accounts: "Cuentas: nombre, correo, contraseña como hash, última visita",
  chats: "Conversaciones: títulos y fechas",
  messages: "Mensajes: lo que se escribe y lo que contestan los modelos",
  files: "Archivos y su texto",
  usage: "Uso: mensajes, tokens y coste de cada día",
  audit: "Auditoría: quién hizo qué, cuándo y desde qué dirección IP",
  opinions: "Opiniones de respuestas",
  emails: "Buzón: formularios de contacto y soporte",
};

const received: Record<Recipient["kind"], string> = {
  model: "La conversación y lo que se le adjunta",
  voiceModel: "Las grabaciones de quien dicta, y las respuestas que se escuchan",
  searchModel: "El texto de todo lo que se busca (mensajes, documentos y entrenamientos) y las preguntas",
  tool: "Lo que el modelo le pide en cada llamada",
  access: "Quién entra y cuándo; de él llegan nombre, correo y grupos",
  mail: "Avisos, respuestas por correo y lo que llega por formularios",
  mailIn: "Las preguntas que se mandan por correo, con sus adjuntos",
  database: "Todo menos los archivos",
  redis: "Intentos contados, con la dirección IP o la cuenta",
  storage: "Los archivos",
  backup: "Todo, en las copias",
  events: "Los apuntes de la auditoría: quién, con su correo, qué y desde qué dirección IP",
};

// Facts that the settings lack are filled in by hand.
export const blank = "________________";

/** The record of processing in sentences. */
export function inWords({ controller, kept, holds, recipients, security }: Processing, timeZone: string) {
  const facts: [label: string, text: string][] = [
    ["Responsable", controller.name ?? blank],
    ["Contacto", controller.contact ?? blank],
    ["Delegado de protección de datos", controller.dataProtectionOfficer ?? blank],
    ["Fines", "Conversar con modelos de IA, buscar en lo propio y administrar quién puede hacerlo."],
    ["Personas", "Quienes tienen cuenta, y aquellas de las que se escriba o estén en los archivos."],
  ];
  return {
    day: new Intl.DateTimeFormat("es", { dateStyle: "long", timeZone }).format(new Date()),
    facts,
    kept: kept.map((one) => ({ what: things[one.kind], time: timeOf(one), count: one.count.toLocaleString("es") })),
    holds:
      holds === 0
        ? "No hay ninguna suspensión de borrado."
        : `Hay ${holds === 1 ? "una suspensión" : `${holds.toLocaleString("es")} suspensiones`} de borrado.`,
    recipients: recipients.map((one, index) => ({
      key: index,
      name: one.name,
      host: one.host ?? "En esta misma máquina",
      isOutside: one.host !== null,
      // Public pages of anybody, whose owners process nothing for the house.
      isPublic: one.host?.includes(" ") === true,
      company: companyOf(one.host),
      gets: received[one.kind] + (one.pseudonyms ? ", sin identificadores (con seudónimos)" : ""),
      whose: one.groups === null ? "Todas las personas" : one.groups.length === 0 ? "Nadie" : one.groups.join(", "),
    })),
    security: measures(security),
  };
}

// Companies by the ends of their hosts, from their public terms for the European Economic Area; a contract may say otherwise.
const companies: Record<string, string> = {
  "openai.com": "OpenAI Ireland Ltd. (Irlanda) y OpenAI (Estados Unidos)",
  "anthropic.com": "Anthropic Ireland Ltd. (Irlanda) y Anthropic (Estados Unidos)",
  "googleapis.com": "Google (Irlanda y Estados Unidos)",
  "mistral.ai": "Mistral AI (Francia)",
  "deepseek.com": "DeepSeek (China)",
  "openrouter.ai": "OpenRouter (Estados Unidos), que lo pasa a otros",
  "groq.com": "Groq (Estados Unidos)",
  "together.xyz": "Together AI (Estados Unidos)",
  "azure.com": "Microsoft (según la región)",
  "amazonaws.com": "Amazon Web Services (según la región)",
  "search.brave.com": "Brave Software (Estados Unidos)",
  "tavily.com": "Tavily (Estados Unidos)",
};

/** The company behind a host, where it is known; empty where it is not, and for this machine. */
function companyOf(host: string | null): string {
  const known = Object.keys(companies).find((end) => host === end || host?.endsWith(`.${end}`));
  return known ? (companies[known] ?? "") : "";
}

export function timeOf({ kind, rules }: Kept): string {
  if (kind === "accounts") return "Hasta que se elimina la cuenta";
  if (rules.length === 0) return "Hasta que alguien lo elimina";
  return rules
    .map(({ days, group, keepsPinned }) => {
      const span = `${days.toLocaleString("es")} ${days === 1 ? "día" : "días"}`;
      const whose = group === null ? "" : ` lo de ${group}`;
      const pinned =
        keepsPinned && kind !== "files" && kind !== "usage" && kind !== "audit" ? ", salvo las fijadas" : "";
      return `${span}${whose}${pinned}`;
    })
    .join("; ");
}

const administratorsRead: Record<Processing["security"]["adminReads"], string> = {
  open: "puede leer lo que escriben los demás, salvo lo temporal; cada lectura queda en la auditoría, y cada persona ve en su cuenta quién ha leído lo suyo",
  reason:
    "puede leer lo que escriben los demás, salvo lo temporal, si antes dice para qué; queda en la auditoría, y a la persona se le avisa, o se apunta por qué no y lo ve en su cuenta a los treinta días",
  never:
    "puede gestionar las cuentas y borrar, pero no leer lo que escriben los demás ni descargar copias; lo que alguien enseña a un grupo lo lee quien esté en él",
};

/** Measures that protect data. `tests/promised/processing.test.ts` compares each sentence with what happens. */
export function measures(security: Processing["security"]): string[] {
  const { https, passwords, withSecondStep, administrators, adminReads, terms, secondStep, nightlyCopies } = security;
  const limits = [
    security.sessionHours !== null && `a las ${security.sessionHours} horas`,
    security.idleMinutes !== null && `tras ${security.idleMinutes} minutos sin usarse`,
  ].filter(Boolean);
  return [
    https
      ? "Las conexiones van cifradas (HTTPS)."
      : "No consta que las conexiones vayan cifradas: PUBLIC_URL no empieza por https.",
    passwords
      ? `Se entra con contraseña, guardada con argon2id; ${withSecondStep === 1 ? "una cuenta tiene" : `${withSecondStep.toLocaleString("es")} cuentas tienen`} verificación en dos pasos.`
      : "No hay contraseñas: se entra con los accesos de la organización.",
    ...(secondStep === "optional"
      ? []
      : [
          `La verificación en dos pasos es obligatoria para ${secondStep === "all" ? "todas las personas" : "quien administra"}, si entra con una contraseña de aquí.`,
        ]),
    ...(limits.length > 0 ? [`Las sesiones acaban ${limits.join(", o ")}.`] : []),
    administrators === 1 ? "Administra una persona." : `Administran ${administrators.toLocaleString("es")} personas.`,
    `Quien administra ${administratorsRead[adminReads]}.`,
    ...(security.rooms === "nobody"
      ? []
      : [
          `${security.rooms === "all" ? "Cualquier persona con cuenta" : "Quien administra"} puede abrir salas, en las que otras hablan con un asistente sin cuenta; lo que escriben se borra cuando salen, o un día después de que la sala acabe.`,
        ]),
    "Lo que cambia quien administra queda en la auditoría, que es una cadena sellada.",
    "Las claves de modelos, herramientas y accesos se guardan cifradas (AES-256-GCM).",
    ...(security.events ? ["Los apuntes de la auditoría se mandan además a otro sistema."] : []),
    ...(nightlyCopies === "none"
      ? []
      : [`Cada noche se hace una copia en otro sitio${nightlyCopies === "encrypted" ? ", cifrada" : ""}.`]),
    "Cada persona descarga lo suyo y elimina su cuenta por sí misma, salvo que haya una suspensión.",
    terms.length > 0
      ? `Todas las personas han de aceptar: ${terms.join(", ")}.`
      : "No hay páginas que las personas tengan que aceptar.",
  ];
}
