import { z } from "zod";
import type { FolderRow } from "../../db/tables.ts";

/**
 * A file that was not taken, or a folder that could not be read. `reason`: follows the name. `tag`: of the refused content, which
 * is not fetched again; empty if the file may be taken the next time. `closedAt`: since when a folder can't be read, epoch ms.
 */
const skippedFile = z.object({
  path: z.string(),
  tag: z.string(),
  reason: z.string(),
  closedAt: z.number().optional(),
});
export type Skipped = z.infer<typeof skippedFile>;
export const skippedIn = ({ skipped }: Pick<FolderRow, "skipped">): Skipped[] =>
  z.array(skippedFile).parse(JSON.parse(skipped));

/** A subfolder that the server does not let read; `closedAt`: since when, epoch ms. */
export const closedFolder = (path: string, closedAt: number): Skipped => ({
  path,
  tag: "",
  reason: "no se puede leer ahora.",
  closedAt,
});
