import type { Context } from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";

// What is left is shown from 3 messages or 10 % of the day's messages on, or once 90 % of the month's tokens are used.
const [fewMessages, fewOfTen, tokensUsed] = [3, 0.1, 0.9];

/** What the person's plan still leaves, as a sentence; nothing while there is plenty. What is refused is the API's to say. */
export async function planLeft(context: Context): Promise<string | undefined> {
  const { subscription, usage } = await requireUser(context);
  const { messagesPerDay, tokensPerMonth } = subscription;
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
