import { sql } from "kysely";
import type { Db } from "../../db/engine.server.ts";
import { prepared } from "../../db/prepared.server.ts";
import type { MessageRow } from "../../db/tables.ts";
import { storedJson } from "../../process/text/json.ts";
import type { Tool } from "../../tools/tool.server.ts";
import type { Source } from "../chunk.ts";
import type { Run } from "../running/run.server.ts";
import { anybody, originOf, Provenance } from "./provenance.server.ts";

// Newest messages of a person, and newest replies with search results, in which a place is looked for.
const lookedAt = 100;

/**
 * Provenance of what stands in the prompt of a reply: of all that led to its question, also what was summarised since; of the artifacts of
 * its chat; of its sources; and of its calls so far. `wantsPlaces`: whether the next calls name places; else the texts are not read.
 */
export async function findProvenance(
  db: Db,
  question: Pick<MessageRow, "id">,
  run: Run,
  { tools, wantsPlaces }: { tools: Tool[]; wantsPlaces: boolean },
): Promise<Provenance> {
  const lastId = question.id;
  const [told, called, person, listed] = await Promise.all([
    findTold(db, { lastId }),
    findOrigins(db, { lastId }),
    wantsPlaces ? findSaid(db, { lastId }) : undefined,
    wantsPlaces ? findListed(db, { lastId }) : undefined,
  ]);
  const sources = [...(listed?.rows.flatMap((row) => storedJson<Source[]>(row.sources)) ?? []), ...run.sources];
  const made = run.calls.filter(({ text, status }) => text !== "" && status !== "refused");
  const isTold = told.rows.length > 0 || run.sources.some(({ kind }) => kind !== "training");
  return new Provenance({
    person: person?.rows.map(({ content }) => withoutQuotes(content)) ?? [],
    listed: sources.flatMap(({ url, isListed }) => (url && isListed ? [url] : [])),
    origins: [
      ...(isTold ? [anybody] : []),
      ...called.rows.map(({ origin }) => origin),
      ...made.flatMap(({ call }) => originOf(call) ?? []),
    ],
    described: tools.flatMap(({ server, toolId }) => (server === null ? [] : [toolId])),
  });
}

/** A message without its quoted lines: the person has not named a place that only a quote names. */
const withoutQuotes = (content: string) => content.replace(/^[ \t]*>.*$/gm, "");

type Last = { lastId: string };

const branch = (lastId: string) => sql`
  with recursive branch as (
    select id, "parentId", 0 as depth from messages where id = ${lastId}
    union all
    select m.id, m."parentId", b.depth + 1 from messages m join branch b on m.id = b."parentId"
  )`;

// Sources are JSON that this program has written; the patterns match all kinds but trainings.
const findTold = prepared(
  (_, { lastId }: Last) => sql<{ id: string }>`${branch(lastId)}
    select m.id from branch join messages m on m.id = branch.id
    where m.outside = 1 or m.sources like '%"kind":"file"%' or m.sources like '%"kind":"message"%'
      or m.sources like '%"kind":"page"%' or exists (select 1 from attachments a where a."messageId" = m.id)
    union all
    select a.id from artifacts a join messages q on q."chatId" = a."chatId" where q.id = ${lastId} and a.outside = 1
    limit 1`,
);

const findOrigins = prepared(
  (_, { lastId }: Last) => sql<{ origin: string }>`${branch(lastId)}
    select distinct p.origin from branch join parts p on p."messageId" = branch.id
    where p.origin is not null and p.text <> '' and p.status <> 'refused'`,
);

const findSaid = prepared(
  (_, { lastId }: Last) => sql<{ content: string }>`${branch(lastId)}
    select m.content from branch join messages m on m.id = branch.id
    where m.role = 'user' and m.outside = 0 order by branch.depth limit ${sql.lit(lookedAt)}`,
);

const findListed = prepared(
  (_, { lastId }: Last) => sql<{ sources: string }>`${branch(lastId)}
    select m.sources from branch join messages m on m.id = branch.id
    where m.sources like '%"isListed":true%' order by branch.depth limit ${sql.lit(lookedAt)}`,
);
