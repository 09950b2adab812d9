import { z } from "@hono/zod-openapi";
import { limits } from "../../process/limits.ts";
import { listOf, objectOf, recordOf } from "../../process/text/json.ts";
import { line } from "../http/schemas.server.ts";

/** A part of an errand: its title, and the words to search for. */
export const planPart = z
  .strictObject({
    title: line("El título de una parte", 200, 1),
    searches: z
      .array(line("Una búsqueda", 200, 1))
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

const short = (value: unknown) => (typeof value === "string" ? value.replace(/\s+/g, " ").trim().slice(0, 200) : "");

/** The plan in the answer of a model, as far as it is one; else the question as its one part. */
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
