import { z } from "@hono/zod-openapi";
import type { ErrandRow } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import { listOf, objectOf, recordOf, storedJson } from "../../process/text/json.ts";
import { line } from "../http/schemas.server.ts";

/** A line of a plan without the number or dash that lists have before it, and without signs that nobody sees. */
const bare = (text: string): string =>
  text
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim()
    .replace(/^(?:(?:[-*•]|\d{1,2}[.)])\s+)+/, "")
    .slice(0, 200)
    .toWellFormed();

/** A part of an errand: its title, and the words to search for. */
export const planPart = z
  .strictObject({
    title: line("El título de una parte", 200, 1).transform(bare),
    searches: z
      .array(line("Una búsqueda", 200, 1).transform(bare))
      .max(limits.errandSearches, `Una parte tiene ${limits.errandSearches} búsquedas como mucho.`),
  })
  .openapi("ErrandPart");
export const planOf = z
  .array(planPart)
  .min(1, "El plan tiene que tener alguna parte.")
  .refine(
    (parts) => new Set(parts.map(({ title }) => title)).size === parts.length,
    "Dos partes del plan se llaman igual.",
  )
  .max(limits.errandParts, `El plan tiene ${limits.errandParts} partes como mucho.`);
export type Plan = z.output<typeof planOf>;

const short = (value: unknown) => (typeof value === "string" ? bare(value) : "");

/** The plan of an errand as it is stored. */
export const storedPlan = ({ plan }: Pick<ErrandRow, "plan">): Plan => storedJson<Plan>(plan);

/** The plan in the answer of a model, with its valid parts; without any, a plan with the question as its only part. */
export function planIn(answer: string, question: string): Plan {
  const parts = listOf(jsonIn(answer)?.partes)
    .map((one) => ({ title: short(recordOf(one)?.titulo), searches: searchesIn(recordOf(one)?.busquedas) }))
    .filter(({ title }, n, all) => title !== "" && all.findIndex((one) => one.title === title) === n)
    .slice(0, limits.errandParts);
  return parts.length > 0 ? parts : [{ title: short(question), searches: [short(question)] }];
}

/** Title of the report in the answer of a model; empty if it has none. */
export const titleIn = (answer: string): string => short(jsonIn(answer)?.titulo).slice(0, limits.chatTitle);

/** Words to search for in a list of a model. */
export const searchesIn = (list: unknown): string[] =>
  listOf(list).map(short).filter(Boolean).slice(0, limits.errandSearches);

/** The object in an answer, whatever words or marks stand around it; undefined if there is none. */
export const jsonIn = (answer: string): Record<string, unknown> | undefined =>
  objectOf(answer.slice(answer.indexOf("{"), answer.lastIndexOf("}") + 1));
