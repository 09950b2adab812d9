import { read } from "../../answers.server.ts";
import { pullStream } from "../../pull-stream.server.ts";
import type { Route } from "./+types/csv";
import { cellsOf } from "./cells.server.ts";
import { listOf } from "./query.server.ts";
import { type Listed, resourceOf } from "./resource.server.ts";

// More than a spreadsheet is pleasant with.
const pagesAtMost = 200;

/** What a list shows, all of its pages, as a file for spreadsheets. */
export async function loader({ context, params, url }: Route.LoaderArgs) {
  const { resource, api } = resourceOf(context, params.resource);
  const { columns, query } = listOf(url, resource);
  async function* lines(): AsyncGenerator<string> {
    // Without this mark, Excel takes it for another encoding.
    yield `\uFEFF${line(columns.map(({ label }) => label))}`;
    let cursor: string | null = null;
    for (let page = 0; page < pagesAtMost; page++) {
      const { cursor: _, ...rest } = query as Record<string, string>;
      const answer: Listed = await read(api.$get({ query: { ...rest, limit: "100", ...(cursor && { cursor }) } }));
      const cells = await cellsOf(context, columns, answer.items);
      yield cells.map((row) => line(row.map(({ text }) => text))).join("");
      cursor = answer.nextCursor;
      if (!cursor) return;
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

const line = (values: string[]) => `${values.map(quoted).join(";")}\r\n`;

/** RFC 4180; what a spreadsheet would take for a formula is text. */
const quoted = (value: string) => `"${value.replace(/^(?=[=+\-@\t\r])/, "'").replaceAll('"', '""')}"`;
