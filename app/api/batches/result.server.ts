import type { Db } from "../../db/engine.server.ts";
import type { BatchRow } from "../../db/tables.ts";
import { csvLine, csvMark } from "../../process/text/csv.ts";
import { textsIn } from "../../process/text/json.ts";

const rowsAtOnce = 100;

/** The table of a series with what was answered to each row, as lines of CSV. */
export async function* linesOf(db: Db, batch: BatchRow): AsyncGenerator<string> {
  const columns = textsIn(batch.columns);
  yield `${csvMark}${csvLine([...columns, "Respuesta de una IA", "Problema"])}`;
  for (let from = 0; ; from += rowsAtOnce) {
    const rows = await db
      .selectFrom("batchQuestions")
      .where("batchId", "=", batch.id)
      .where("position", ">=", from)
      .where("position", "<", from + rowsAtOnce)
      .orderBy("position")
      .select(["cells", "answer", "problem"])
      .execute();
    if (rows.length === 0) return;
    yield rows
      .map(({ cells, answer, problem }) => {
        const values = textsIn(cells);
        return csvLine([...columns.map((_, at) => values[at] ?? ""), answer ?? "", problem ?? ""]);
      })
      .join("");
  }
}
