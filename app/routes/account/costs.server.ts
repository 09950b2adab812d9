import { moneyInWords } from "../../web/plan-use-in-words.server.ts";

type Given = {
  months: { month: string; tokens: number; cost: number }[];
  chats: { id: string; title: string; replies: number; cost: number }[];
};

/** Costs of replies, in words; undefined where no model has a price. */
export function costsInWords({ months, chats }: Given) {
  if (months.every(({ cost }) => cost === 0)) return undefined;
  const named = new Intl.DateTimeFormat("es", { month: "long", year: "numeric", timeZone: "UTC" });
  return {
    months: months.map(({ month, tokens, cost }) => ({
      month,
      name: sentenceCase(named.format(Date.parse(`${month}-01`))),
      tokens: tokens.toLocaleString("es"),
      cost: moneyInWords(cost),
    })),
    chats: chats.map(({ id, title, replies, cost }) => ({
      id,
      title,
      said: replies === 1 ? "una respuesta" : `${replies.toLocaleString("es")} respuestas`,
      cost: moneyInWords(cost),
    })),
  };
}

const sentenceCase = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
