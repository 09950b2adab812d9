import type { Person } from "../../person.server.ts";
import { sizeInWords } from "../../shown-file.server.ts";

type Session = NonNullable<Person>;

const plans = { gratis: "Plan Gratis", pro: "Plan Pro", equipo: "Plan Equipo" };
const states = { active: "activo", past_due: "pendiente de pago", canceled: "cancelado" };

/** A plan and what has been used of it, in words; `limit` is null where there is none. */
export function showUse(subscription: Session["subscription"], usage: Session["usage"], now: number) {
  // Made here, not once and for all: each holds a good part of a megabyte.
  const date = new Intl.DateTimeFormat("es", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
  const month = new Intl.DateTimeFormat("es", { month: "long", timeZone: "UTC" });
  const today = new Date(now);
  const nextMonth = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1, 1);
  const end = subscription.endsAt ? `, hasta el ${date.format(Date.parse(subscription.endsAt))}` : "";
  return {
    plan: plans[subscription.plan],
    since: `${states[subscription.status]} desde el ${date.format(Date.parse(subscription.startsAt))}${end}`,
    meters: [
      {
        name: "Mensajes de hoy",
        used: usage.messagesToday,
        limit: subscription.messagesPerDay,
        said: ofLimit(usage.messagesToday, subscription.messagesPerDay),
        resets: "Vuelve a cero a las 0:00 (UTC).",
      },
      {
        name: `Tokens de ${month.format(now)}`,
        used: usage.tokensThisMonth,
        limit: subscription.tokensPerMonth,
        said: ofLimit(usage.tokensThisMonth, subscription.tokensPerMonth),
        resets: `Vuelve a cero el 1 de ${month.format(nextMonth)}.`,
      },
      spaceUsed(usage.storedBytes, subscription.storageMb),
    ],
  };
}

/** The space that files take, as a meter. */
export function spaceUsed(bytes: number, limitMb: number | null) {
  const limit = limitMb === null ? null : limitMb * 1024 * 1024;
  return {
    name: "Espacio de archivos",
    used: bytes,
    limit,
    said: limit === null ? `${sizeInWords(bytes)}, sin límite` : `${sizeInWords(bytes)} de ${sizeInWords(limit)}`,
    resets: "Se libera al eliminar archivos.",
  };
}

const ofLimit = (used: number, limit: number | null) =>
  limit === null
    ? `${used.toLocaleString("es")}, sin límite`
    : `${used.toLocaleString("es")} de ${limit.toLocaleString("es")}`;
