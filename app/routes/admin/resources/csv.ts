import { pullStream } from "../../../http/pull-stream.server.ts";
import { csvLine, csvMark } from "../../../process/text/csv.ts";
import type { Route } from "./+types/csv";
import { allPages } from "./all-pages.server.ts";
import { cellsOf } from "./cells.server.ts";
import { listOf } from "./query.server.ts";
import { resourceOf } from "./resource.server.ts";

/** A whole list as it is shown, as a file for spreadsheets. */
export async function loader({ context, params, url }: Route.LoaderArgs) {
  const { resource, list } = resourceOf(context, params.resource);
  const { columns, query } = listOf(url, resource);
  const pages = await allPages(list, query);
  async function* lines(): AsyncGenerator<string> {
    yield `${csvMark}${csvLine(columns.map(({ label }) => label))}`;
    for await (const items of pages) {
      const cells = await cellsOf(context, columns, items);
      yield cells.map((row) => csvLine(row.map(({ text }) => text))).join("");
    }
  }
  const made = lines();
  return new Response(
    pullStream(made, () => made.return(undefined)),
    {
      headers: {
        "Content-Type": "text/csv; charset=utf-8",
        "Content-Disposition": `attachment; filename="${resource.path}.csv"`,
      },
    },
  );
}
