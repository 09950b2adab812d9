import { DatabaseSync } from "node:sqlite";
import { z } from "zod";

/** Rows of the tables that a restored copy is compared by; without those of temporary chats. */
export const counts = z.object({ users: z.number(), chats: z.number(), messages: z.number(), files: z.number() });
/** Contents of a copied database. `fileIds`: files that it names. */
export type Contents = { migration: string; counts: z.output<typeof counts>; fileIds: string[] };
type Ask = (query: string) => Promise<Record<string, unknown>[]>;

/** Rows that a copy is to hold, as SQL for both engines: nothing of temporary chats. */
const lasting = {
  users: "users",
  chats: 'chats where "sessionId" is null',
  messages: 'messages where "chatId" in (select id from chats where "sessionId" is null)',
  files: 'files where "sessionId" is null',
};

/** Contents of a copy of the embedded database, which is checked whole. Throws if it is damaged. Takes as long as reading all of it. */
export async function lookIntoFile(path: string): Promise<Contents> {
  const copy = new DatabaseSync(path, { readOnly: true });
  try {
    const [fault] = copy.prepare("pragma quick_check").all();
    if (fault?.quick_check !== "ok") throw new Error(`damaged copy: ${fault?.quick_check}`);
    return await lookInto(async (query) => copy.prepare(query).all());
  } finally {
    copy.close();
  }
}

/** Asks a database, one query at a time, for its contents. */
export async function lookInto(ask: Ask): Promise<Contents> {
  const count = async (rows: string) => Number((await ask(`select count(*) as n from ${rows}`))[0]?.n);
  const { users, chats, messages, files } = lasting;
  const ids = await ask(`select id from ${files}`);
  const [last] = await ask("select max(name) as name from kysely_migration");
  return {
    migration: String(last?.name),
    counts: {
      users: await count(users),
      chats: await count(chats),
      messages: await count(messages),
      files: await count(files),
    },
    fileIds: ids.map(({ id }) => String(id)),
  };
}
