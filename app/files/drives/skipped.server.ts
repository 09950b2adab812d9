import { z } from "zod";
import type { FolderRow } from "../../db/tables.ts";

/**
 * A file that was not taken, or a folder that could not be read, and why: what follows its name. `tag`: of the content that was refused, which
 * is not fetched again; empty where it may be taken the next time. `closedAt`: since when a folder is, epoch ms.
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

/** A folder inside that its server does not give, since a time in epoch ms. */
export const closedFolder = (path: string, closedAt: number): Skipped => ({
  path,
  tag: "",
  reason: "no se puede leer ahora.",
  closedAt,
});
