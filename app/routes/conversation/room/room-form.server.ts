import { z } from "zod";
import { numberTyped } from "../../../process/text/number-typed.ts";

const hour = 60 * 60_000;

/** Fields of a room's bounds as they are typed. */
export const boundFields = {
  hours: z.string().default(""),
  people: z.string().default(""),
  messages: z.string().default(""),
  budget: z.string().default(""),
};

type Typed = { hours: string; people: string; messages: string; budget: string };

/** Bounds of a room as the API has them; the API refuses a text that is no number, with its own sentence. */
export const boundsOf = ({ hours, people, messages, budget }: Typed) => ({
  ...(Number(hours) > 0 && { endsAt: new Date(Date.now() + Number(hours) * hour).toISOString() }),
  people: numberTyped(people) ?? 0,
  messages: numberTyped(messages) ?? 0,
  budget: numberTyped(budget),
});
