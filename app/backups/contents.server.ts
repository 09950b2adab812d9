import { DatabaseSync } from "node:sqlite";

const counted = ["users", "chats", "messages", "files"] as const;
/** Rows of the tables that a restored copy is compared by; without those of temporary chats. */
export type Counts = Record<(typeof counted)[number], number>;
/** Contents of a copied database. `fileIds`: files that it names. */
export type Contents = { migration: string; counts: Counts; fileIds: string[] };

/** Rows that a copy is to hold, as SQL for both engines: nothing of temporary chats. */
export const lasting: Record<(typeof counted)[number], string> = {
  users: "users",
  chats: 'chats where "sessionId" is null',
  messages: 'messages where "chatId" in (select id from chats where "sessionId" is null)',
  files: 'files where "sessionId" is null',
};

/** Contents of a copy of the embedded database, which is checked whole. Throws if it is damaged. Takes as long as reading all of it. */
export function lookIntoFile(path: string): Contents {
  const copy = new DatabaseSync(path, { readOnly: true });
  try {
    const faults = copy.prepare("pragma quick_check").all() as { quick_check: string }[];
    if (faults[0]?.quick_check !== "ok") throw new Error(`damaged copy: ${faults[0]?.quick_check}`);
    const one = (query: string) => Object.values(copy.prepare(query).get() ?? {})[0];
    const counts = {} as Counts;
    for (const table of counted) counts[table] = Number(one(`select count(*) from ${lasting[table]}`));
    const ids = copy.prepare(`select id from ${lasting.files}`).all();
    return {
      migration: String(one("select max(name) from kysely_migration")),
      counts,
      fileIds: ids.map(({ id }) => String(id)),
    };
  } finally {
    copy.close();
  }
}

/** Asks a database, one query at a time, for its contents. */
export async function lookInto(ask: (query: string) => Promise<Record<string, unknown>[]>): Promise<Contents> {
  const counts = {} as Counts;
  for (const table of counted) counts[table] = Number((await ask(`select count(*) as n from ${lasting[table]}`))[0]?.n);
  const files = await ask(`select id from ${lasting.files}`);
  const last = await ask("select max(name) as name from kysely_migration");
  return { migration: String(last[0]?.name), counts, fileIds: files.map(({ id }) => String(id)) };
}
