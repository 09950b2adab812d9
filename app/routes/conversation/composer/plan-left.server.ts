import type { Context } from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";

// The rest is shown once 3 messages or 10 % of the day's messages are left, or once 90 % of the month's tokens are used.
const [fewMessages, fewOfTen, tokensUsed] = [3, 0.1, 0.9];
// Costs are told earlier, because somebody else may have to be asked for more.
const budgetUsed = 0.8;

/** Warning that the person's plan or a group's budget is nearly used up; undefined before that. The API enforces the limits. */
export async function planLeft(context: Context): Promise<string | undefined> {
  const { limits, groups, usage } = await requireUser(context);
  const { messagesPerDay, tokensPerMonth, costPerMonth } = limits;
  const budgeted = groups.flatMap(({ name, budget }) => (budget === null ? [] : [{ name, share: budget }]));
  const least = budgeted.sort((a, b) => a.share - b.share)[0];
  if (least && least.share >= 1) return `Se ha gastado el presupuesto de este mes de tu grupo «${least.name}».`;
  if (least && least.share >= budgetUsed) {
    return `Tu grupo «${least.name}» ha gastado el ${Math.floor(least.share * 100)} % de su presupuesto de este mes.`;
  }
  if (costPerMonth !== null && usage.costThisMonth >= costPerMonth * budgetUsed) {
    const share = Math.min(1, usage.costThisMonth / Math.max(Number.MIN_VALUE, costPerMonth));
    return `Tus respuestas han costado el ${Math.floor(share * 100)} % de lo que pueden costar este mes.`;
  }
  if (tokensPerMonth !== null && usage.tokensThisMonth >= tokensPerMonth * tokensUsed) {
    const share = Math.min(1, usage.tokensThisMonth / Math.max(1, tokensPerMonth));
    return `Has usado el ${Math.floor(share * 100)} % de los tokens de este mes.`;
  }
  if (messagesPerDay === null) return undefined;
  const left = messagesPerDay - usage.messagesToday;
  if (left > Math.max(fewMessages, messagesPerDay * fewOfTen)) return undefined;
  if (left <= 0) return "Has usado los mensajes de hoy.";
  return left === 1 ? "Te queda 1 mensaje de hoy." : `Te quedan ${left} mensajes de hoy.`;
}
