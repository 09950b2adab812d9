import type { Db } from "../../db/engine.server.ts";
import type { Source } from "../chunk.ts";

// Characters before and after a passage that a model is given with it.
const aroundLength = 450;
// Approximate characters of a passage with both neighbours.
const takenByEach = 1_800;

/** Passages of documents, by source number, with the end of the passage before and the beginning of the passage after, unless these are
 * sources themselves. Empty if all together would exceed `room` characters. */
export async function withNeighbours(db: Db, sources: Source[], room: number): Promise<Map<number, string>> {
  const placed = sources.flatMap(({ n, fileId, position, quote }) =>
    fileId && position != null ? [{ n, fileId, position, quote }] : [],
  );
  if (placed.length === 0 || placed.length * takenByEach > room) return new Map();
  const rows = await db
    .selectFrom("passages")
    .where((e) =>
      e.or(
        placed.map(({ fileId, position }) =>
          e.and([e("fileId", "=", fileId), e("position", "in", [position - 1, position + 1])]),
        ),
      ),
    )
    .select(["fileId", "position", "text"])
    .execute();
  const textAt = (fileId: string, position: number) => {
    if (placed.some((one) => one.fileId === fileId && one.position === position)) return "";
    return rows.find((row) => row.fileId === fileId && Number(row.position) === position)?.text ?? "";
  };
  return new Map(
    placed.map(({ n, fileId, position, quote }) => {
      const before = textAt(fileId, position - 1)
        .slice(-aroundLength)
        .toWellFormed();
      const after = textAt(fileId, position + 1)
        .slice(0, aroundLength)
        .toWellFormed();
      return [n, [before && `… ${before}`, quote, after && `${after} …`].filter(Boolean).join("\n")];
    }),
  );
}
