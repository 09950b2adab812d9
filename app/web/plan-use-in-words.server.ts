import { momentInWords } from "../process/time-zones.server.ts";
import type { CurrentUser } from "./current-user.server.ts";
import { sizeInWords } from "./file-display.server.ts";

const plans = { gratis: "Plan Gratis", pro: "Plan Pro", equipo: "Plan Equipo" };
const dayLong = 24 * 60 * 60_000;
const states = { active: "activo", past_due: "pendiente de pago", canceled: "cancelado" };

/** A plan and its use, in words; `limit` is null where there is none. `zone`: the time zone in which hours are told. */
export function showUse(
  { subscription, limits, usage }: Pick<CurrentUser, "subscription" | "limits" | "usage">,
  now: number,
  zone: string,
) {
  // Created per call: a kept formatter holds several hundred kilobytes.
  const date = new Intl.DateTimeFormat("es", { day: "numeric", month: "long", year: "numeric", timeZone: zone });
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
        limit: limits.messagesPerDay,
        said: ofLimit(usage.messagesToday, limits.messagesPerDay),
        resets: `Vuelve a cero ${momentInWords(Math.floor(now / dayLong + 1) * dayLong, now, zone)}.`,
      },
      {
        name: `Tokens de ${month.format(now)}`,
        used: usage.tokensThisMonth,
        limit: limits.tokensPerMonth,
        said: ofLimit(usage.tokensThisMonth, limits.tokensPerMonth),
        resets: `Vuelve a cero ${momentInWords(nextMonth, now, zone)}.`,
      },
      ...(limits.costPerMonth === null
        ? []
        : [
            {
              name: `Coste de ${month.format(now)}`,
              used: usage.costThisMonth,
              limit: limits.costPerMonth,
              said: `${moneyInWords(usage.costThisMonth)} de ${moneyInWords(limits.costPerMonth)}`,
              resets: `Vuelve a cero ${momentInWords(nextMonth, now, zone)}.`,
            },
          ]),
      spaceUsed(usage.storedBytes, subscription.storageMb),
    ],
  };
}

/** The space that files and texts take, as a meter. */
export function spaceUsed(bytes: number, limitMb: number | null) {
  const limit = limitMb === null ? null : limitMb * 1024 * 1024;
  return {
    name: "Espacio",
    used: bytes,
    limit,
    said: limit === null ? `${sizeInWords(bytes)}, sin límite` : `${sizeInWords(bytes)} de ${sizeInWords(limit)}`,
    resets: "Se libera al eliminar archivos y conversaciones.",
  };
}

// Amounts below a cent, which most replies cost, are shown by their first digits.
const cent = 0.01;

/** An amount in the currency of the models' prices, which nobody names. */
export const moneyInWords = (amount: number): string =>
  amount > 0 && amount < cent
    ? amount.toLocaleString("es", { maximumSignificantDigits: 2 })
    : amount.toLocaleString("es", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

const ofLimit = (used: number, limit: number | null) =>
  limit === null
    ? `${used.toLocaleString("es")}, sin límite`
    : `${used.toLocaleString("es")} de ${limit.toLocaleString("es")}`;
