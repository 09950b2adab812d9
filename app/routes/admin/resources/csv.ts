import { pullStream } from "../../../http/pull-stream.server.ts";
import { read } from "../../../web/api-result.server.ts";
import type { ItemPage } from "../descriptions/description.ts";
import type { Route } from "./+types/csv";
import { cellsOf } from "./cells.server.ts";
import { listOf } from "./query.server.ts";
import { resourceOf } from "./resource.server.ts";

// More than a spreadsheet is pleasant with.
const pagesAtMost = 200;

/** What a list shows, all of its pages, as a file for spreadsheets. */
export async function loader({ context, params, url }: Route.LoaderArgs) {
  const { resource, list } = resourceOf(context, params.resource);
  const { columns, query } = listOf(url, resource);
  const { cursor: _, ...rest } = query as Record<string, string>;
  const ask = (cursor?: string): Promise<ItemPage> =>
    read(list({ query: { ...rest, limit: "100", ...(cursor && { cursor }) } }));
  // The first page is read before the response begins: if that renews the session tokens, the cookie can still be set.
  const first = await ask();
  async function* lines(): AsyncGenerator<string> {
    // Without this mark, Excel takes it for another encoding.
    yield `\uFEFF${line(columns.map(({ label }) => label))}`;
    let answer = first;
    for (let page = 1; ; page++) {
      const cells = await cellsOf(context, columns, answer.items);
      yield cells.map((row) => line(row.map(({ text }) => text))).join("");
      if (!answer.nextCursor || page === pagesAtMost) return;
      answer = await ask(answer.nextCursor);
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
