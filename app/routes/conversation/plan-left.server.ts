import type { RouterContextProvider } from "react-router";
import { currentPerson } from "../../person.server.ts";

// From here on it is good to know that the end is near.
const [fewMessages, fewOfTen, tokensUsed] = [3, 0.1, 0.9];

/** What the person's plan still leaves, as a sentence; nothing while there is plenty. What is refused is the API's to say. */
export async function planLeft(context: Readonly<RouterContextProvider>): Promise<string | undefined> {
  const { subscription, usage } = await currentPerson(context);
  const { messagesPerDay, tokensPerMonth } = subscription;
  if (tokensPerMonth !== null && usage.tokensThisMonth >= tokensPerMonth * tokensUsed) {
    const share = Math.min(1, usage.tokensThisMonth / Math.max(1, tokensPerMonth));
    return `Has usado el ${Math.floor(share * 100)} % de los tokens de este mes.`;
  }
  if (messagesPerDay === null) return undefined;
  const left = messagesPerDay - usage.messagesToday;
  if (left > Math.max(fewMessages, messagesPerDay * fewOfTen)) return undefined;
  if (left <= 0) return "Has usado los mensajes de hoy. Podrás seguir mañana a las 0:00 (UTC).";
  return left === 1 ? "Te queda 1 mensaje de hoy." : `Te quedan ${left} mensajes de hoy.`;
}
