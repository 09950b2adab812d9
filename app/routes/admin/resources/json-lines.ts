import { data } from "react-router";
import { pullStream } from "../../../http/pull-stream.server.ts";
import type { Route } from "./+types/json-lines";
import { allPages } from "./all-pages.server.ts";
import { listOf } from "./query.server.ts";
import { resourceOf } from "./resource.server.ts";

/** All items of a list as the API gives them, each in a line of JSON (JSON Lines), for other programs. */
export async function loader({ context, params, url }: Route.LoaderArgs) {
  const { resource, list } = resourceOf(context, params.resource);
  if (!resource.lines) throw data(null, 404);
  const pages = await allPages(list, listOf(url, resource).query);
  async function* lines(): AsyncGenerator<string> {
    for await (const items of pages) yield items.map((item) => `${JSON.stringify(item)}\n`).join("");
  }
  const made = lines();
  return new Response(
    pullStream(made, () => made.return(undefined)),
    {
      headers: {
        "Content-Type": "application/jsonl; charset=utf-8",
        "Content-Disposition": `attachment; filename="${resource.path}.jsonl"`,
      },
    },
  );
}
