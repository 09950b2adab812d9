import { sql } from "kysely";
import { newRow } from "../../db/rows.server.ts";
import type { BatchRow } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import { blanksIn } from "../../process/text/blanks.ts";
import { plainText } from "../../process/text/decoding/plain.server.ts";
import { numberIn } from "../../process/text/json.ts";
import { tableRows } from "../../process/text/table.ts";
import type { Person, Services } from "../env.server.ts";
import { type ErrandPlace, errandPlaces } from "../errands/new-errand.server.ts";
import { invalid } from "../http/problem.server.ts";
import { columnName } from "./answer-rows.server.ts";

/** A template with blanks that a person may use. Throws 422. */
export async function usableTemplate({ db }: Services, person: Person, id: string | undefined) {
  const found = db
    .selectFrom("templates")
    .where("id", "=", id ?? "")
    .where((e) => e.or([e("userId", "=", person.id), e("shared", "=", 1)]));
  const template = await found.select(["title", "content"]).executeTakeFirst();
  if (!template) throw invalid("templateId", "Elige una plantilla.");
  if (blanksIn(template.content).length === 0)
    throw invalid("templateId", "Esa plantilla no tiene huecos que rellenar.");
  return template;
}

/** The sum that somebody has typed; null for none. Throws 422. */
export function budgetIn(said = ""): number | null {
  const budget = said.trim() ? numberIn(said) : null;
  if (budget === null || (typeof budget === "number" && budget > 0)) return budget;
  throw invalid("budget", "Lo que puede costar es un número mayor que cero.");
}

/** The places that the errands of a series look in, as a form says them; null: each row is one question. Throws 422. */
export function placesIn(said: string | undefined, rows: number): ErrandPlace[] | null {
  if (!said) return null;
  const places = errandPlaces.filter((place) => said.split(",").includes(place));
  if (places.join(",") !== said) throw invalid("looksIn", "Se busca en «web», en «documents» o en «web,documents».");
  if (rows > limits.batchErrands) {
    throw invalid(
      "files",
      `El archivo tiene ${rows.toLocaleString("es")} filas, y encargos son ${limits.batchErrands} como mucho.`,
    );
  }
  return places;
}

/** The table in a file, with a column for each blank. Throws 422. */
export function tableIn(file: Buffer, content: string): { columns: string[]; rows: string[][] } {
  const [first = [], ...all] = tableRows(plainText(file), { byNames: true });
  // Spreadsheets write empty columns at the end.
  const width = first.findLastIndex(Boolean) + 1;
  if (width > limits.batchColumns) {
    throw invalid("files", `El archivo tiene ${width.toLocaleString("es")} columnas, y caben ${limits.batchColumns}.`);
  }
  const columns = first.slice(0, width).map(columnName);
  const rows = all.map((cells) => cells.slice(0, width));
  const wanted = blanksIn(content).map(columnName);
  const missing = wanted.filter((name) => !columns.includes(name));
  if (missing.length > 0) {
    const there = columns
      .filter(Boolean)
      .slice(0, 20)
      .map((name) => `«${name.slice(0, 80)}»`);
    throw invalid(
      "files",
      `En el archivo falta la columna ${missing.map((name) => `«${name}»`).join(", ")}. ${there.length > 0 ? `Tiene ${there.join(", ")}.` : "Está vacío."}`,
    );
  }
  if (rows.length === 0) throw invalid("files", "El archivo tiene los nombres de las columnas y ninguna fila.");
  if (rows.length > limits.batchRows) {
    const most = limits.batchRows.toLocaleString("es");
    throw invalid(
      "files",
      `El archivo tiene ${rows.length.toLocaleString("es")} filas, y caben ${most}. Pártelo en varios.`,
    );
  }
  return { columns, rows };
}

type NewBatch = {
  template: { title: string; content: string };
  modelId: string;
  budget: number | null;
  /** Places that the errands of its rows look in; null: each row is one question. */
  looksIn: ErrandPlace[] | null;
  columns: string[];
  rows: string[][];
};
// Number of rows that fits into one statement.
const rowsAtOnce = 100;

/** Stores a series, which waits to be answered. Throws 422. */
export async function storeBatch({ db }: Services, { id: userId }: Person, given: NewBatch): Promise<BatchRow> {
  const now = Date.now();
  const { template, modelId, budget, looksIn, columns, rows } = given;
  const row: BatchRow = {
    ...{ ...newRow(now), userId, modelId, budget, ...template },
    ...{ columns: JSON.stringify(columns), total: rows.length, state: "running", problem: null },
    looksIn: looksIn && JSON.stringify(looksIn),
  };
  await db.transaction().execute(async (trx) => {
    await trx.insertInto("batches").values(row).execute();
    const { count } = await trx
      .selectFrom("batches")
      .where("userId", "=", userId)
      .select(sql<number>`count(*)`.as("count"))
      .executeTakeFirstOrThrow();
    if (Number(count) > limits.batches) {
      throw invalid("files", `Puedes tener ${limits.batches} preguntas en serie; elimina antes alguna.`);
    }
    for (let from = 0; from < rows.length; from += rowsAtOnce) {
      const some = rows.slice(from, from + rowsAtOnce).map((cells, index) => ({
        ...{ ...newRow(now), userId, batchId: row.id, position: from + index },
        ...{ cells: JSON.stringify(cells), state: "waiting" as const, answer: null, problem: null },
        ...{ inputTokens: null, outputTokens: null, cost: null, errandId: null },
      }));
      await trx.insertInto("batchQuestions").values(some).execute();
    }
  });
  return row;
}
