import { sql } from "kysely";
import type { Db } from "../../db/connection.server.ts";
import { prepared } from "../../db/prepared.server.ts";
import type { MessageRow } from "../../db/tables.ts";
import { parseJson } from "../../process/text/json.ts";
import type { Tool } from "../../tools/tool.server.ts";
import type { Source } from "../chunk.ts";
import type { Run } from "../running/run.server.ts";
import type { Call } from "./call.ts";
import { anybody, originOf, Provenance } from "./provenance.server.ts";

/**
 * Provenance of what stands in the prompt of a reply: of all that led to its question, also what was summarised since; of its
 * sources; and of its calls so far.
 */
export async function provenanceOf(
  db: Db,
  question: Pick<MessageRow, "id">,
  run: Run,
  tools: Tool[],
): Promise<Provenance> {
  const lastId = question.id;
  const [{ rows: messages }, { rows: parts }] = await Promise.all([
    findBranch(db, { lastId }),
    findCalls(db, { lastId }),
  ]);
  const sources = [...messages.flatMap((one) => sourcesIn(one.sources)), ...run.sources];
  const made = run.calls.filter(({ text, status }) => text !== "" && status !== "refused").map(({ call }) => call);
  const calls = [...parts.map(({ data }) => parseJson(data) as Call), ...made];
  const isTold =
    messages.some(({ outside, attached }) => outside === 1 || Number(attached) > 0) ||
    sources.some(({ kind }) => kind !== "training");
  return new Provenance({
    person: messages.flatMap(({ said, outside }) => (said !== null && outside === 0 ? [said] : [])),
    listed: sources.flatMap(({ url, isListed }) => (url && isListed ? [url] : [])),
    origins: [...(isTold ? [anybody] : []), ...calls.flatMap((call) => originOf(call) ?? [])],
    described: tools.flatMap(({ server, toolId }) => (server === null ? [] : [toolId])),
  });
}

const sourcesIn = (stored: string | null) => (stored ? ((parseJson(stored) as Source[] | undefined) ?? []) : []);

type Before = Pick<MessageRow, "sources" | "outside"> & { said: string | null; attached: number };
type Last = { lastId: string };

const branch = (lastId: string) => sql`
  with recursive branch as (
    select id, "parentId" from messages where id = ${lastId}
    union all
    select m.id, m."parentId" from messages m join branch b on m.id = b."parentId"
  )`;

const findBranch = prepared(
  (_, { lastId }: Last) => sql<Before>`${branch(lastId)}
    select case when m.role = 'user' then m.content end as said, m.sources, m.outside,
      (select count(*) from attachments a where a."messageId" = m.id) as attached
    from branch join messages m on m.id = branch.id`,
);

const findCalls = prepared(
  (_, { lastId }: Last) => sql<{ data: string }>`${branch(lastId)}
    select p.data from branch join parts p on p."messageId" = branch.id
    where p.kind = 'tool' and p.data is not null and p.text <> '' and p.status <> 'refused'`,
);
