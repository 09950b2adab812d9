import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isTaken } from "../../app/db/errors.server.ts";
import { addPartitions, partitionMessages } from "../../app/db/partitions/messages.server.ts";
import { messageRow } from "../../app/db/rows.server.ts";
import { type Account, type Api, openApi, textOf } from "../support/api.ts";
import { sharedEngines } from "../support/engines.ts";

const shared = await sharedEngines();

describe.each(shared)("messages that lie in a table for each month, on $name", (engine) => {
  let api: Api;
  let ana: Account;
  let chatId = "";
  const key = crypto.randomUUID();
  const ask = (content: string, more: object = {}) => api.converse(ana.token, { content, ...more });
  beforeAll(async () => {
    api = await openApi(engine);
    ana = await api.signUp("Ana");
    const [start] = await ask("Antes de partir", { key });
    chatId = start?.type === "start" ? start.chatId : "";
    await partitionMessages(api.db, Date.now());
  });
  afterAll(() => api.close());

  const contents = async () => {
    const answer = await api.call("GET", `/api/chat/${chatId}/messages`, { token: ana.token });
    return (answer.body as { items: { role: string; content: string }[] }).items.filter(({ role }) => role === "user");
  };
  const tables = async () =>
    (
      await sql<{ name: string }>`select inhrelid::regclass::text as name from pg_inherits
        where inhparent = 'messages'::regclass order by 1`.execute(api.db)
    ).rows.map(({ name }) => name);

  it("keep earlier and later messages in one conversation", async () => {
    expect(textOf(await ask("Después de partir", { chatId }))).not.toBe("");
    expect((await contents()).map(({ content }) => content)).toEqual(["Antes de partir", "Después de partir"]);
    const found = await api.call("GET", "/api/search?q=partir", { token: ana.token });
    expect((found.body as { messages: object[] }).messages.length).toBeGreaterThan(1);
  });

  it("a message that was sent before is not taken twice", async () => {
    const again = await ask("Antes de partir", { key });
    expect(again[0]).toMatchObject({ type: "start", chatId });
    expect(await contents()).toHaveLength(2);
  });

  it("a conversation has only one running reply at a time", async () => {
    const running = (id: string) =>
      messageRow(Date.now(), { id, chatId, userId: ana.id, parentId: null, status: "streaming" });
    await api.db.insertInto("messages").values(running("00000000-0000-7000-8000-000000000001")).execute();
    const second = api.db.insertInto("messages").values(running("00000000-0000-7000-8000-000000000002")).execute();
    await expect(second).rejects.toSatisfy(isTaken);
    await api.db.deleteFrom("messages").where("status", "=", "streaming").execute();
  });

  it("each month gets its table ahead; far-future messages are accepted", async () => {
    const before = await tables();
    expect(before).toHaveLength(5);
    await addPartitions(api.db, Date.now() + 31 * 24 * 60 * 60_000);
    expect((await tables()).length).toBe(6);
    const far = messageRow(Date.now(), {
      id: "ffffffff-ffff-7fff-8fff-ffffffffffff",
      chatId,
      userId: ana.id,
      parentId: null,
    });
    await api.db.insertInto("messages").values(far).execute();
    await api.db.deleteFrom("messages").where("id", "=", far.id).execute();
  });

  it("doing it again changes nothing", async () => {
    const before = await tables();
    await partitionMessages(api.db, Date.now());
    expect(await tables()).toEqual(before);
  });

  it("a conversation goes with all that belongs to its messages", async () => {
    const left = async () => {
      const counted = await sql<{
        n: number;
      }>`select (select count(*) from messages) + (select count(*) from passages where "messageId" is not null)
        + (select count(*) from prompts) + (select count(*) from "messageKeys") + (select count(*) from "runningChats") as n`.execute(
        api.db,
      );
      return Number(counted.rows[0]?.n);
    };
    expect(await left()).toBeGreaterThan(4);
    expect((await api.call("DELETE", `/api/chat/${chatId}`, { token: ana.token })).status).toBe(204);
    expect(await left()).toBe(0);
  });
});

describe.each(shared)("messages that a long query reads while they are to be split, on $name", (engine) => {
  it("stay one table that takes messages of the next month", async () => {
    const api = await openApi(engine);
    const ana = await api.signUp("Ana");
    await api.converse(ana.token, { content: "Antes de partir" });
    await api.db.transaction().execute(async (trx) => {
      await sql`select count(*) from messages`.execute(trx);
      await expect(partitionMessages(api.db, Date.now())).rejects.toMatchObject({ code: "55P03" });
    });
    const { rows } = await sql`select conname from pg_constraint where conname = 'messages_before'`.execute(api.db);
    expect(rows).toEqual([]);
    await partitionMessages(api.db, Date.now());
    await api.close();
  });
});
