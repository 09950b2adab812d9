import { Readable } from "node:stream";
import type { Context } from "hono";
import type { ChatRow, MessageRow } from "../db/tables.ts";
import { chatAsJson, chatAsMarkdown, fileName } from "./chat-export.server.ts";
import type { ApiEnv, Services } from "./env.server.ts";
import { iso } from "./schemas.server.ts";
import { showUser } from "./user-fields.server.ts";

type Entry = { name: string; text: string };

const chatsAtOnce = 20;

/** Everything of a person as a ZIP: `datos.json`, and each chat as Markdown and JSON. It is made while it is read. */
export function exportAccount(c: Context<ApiEnv>): Response {
  const { services, person } = c.var;
  const day = new Date().toISOString().slice(0, 10);
  return new Response(Readable.toWeb(Readable.from(zipped(entries(services, person.id)))) as ReadableStream, {
    headers: {
      "Content-Type": "application/zip",
      "Content-Disposition": `attachment; filename="tertulia-${day}.zip"`,
    },
  });
}

async function* zipped(files: AsyncGenerator<Entry>): AsyncGenerator<Uint8Array> {
  // Its tables are in memory from the moment it is loaded.
  const { strToU8, Zip, ZipDeflate } = await import("fflate");
  const ready: Uint8Array[] = [];
  const zip = new Zip((error, chunk) => {
    if (error) throw error;
    ready.push(chunk);
  });
  for await (const { name, text } of files) {
    const file = new ZipDeflate(name);
    zip.add(file);
    file.push(strToU8(text), true);
    yield* ready.splice(0);
  }
  zip.end();
  yield* ready.splice(0);
}

async function* entries(services: Services, userId: string): AsyncGenerator<Entry> {
  yield { name: "datos.json", text: JSON.stringify(await accountData(services, userId), isoTimes, 2) };
  const { db } = services;
  const models = new Map(
    (await db.selectFrom("models").select(["id", "name"]).execute()).map(({ id, name }) => [id, name]),
  );
  for (let after = ""; ; ) {
    const chats = await db
      .selectFrom("chats")
      .where("userId", "=", userId)
      .where("id", ">", after)
      .orderBy("id")
      .limit(chatsAtOnce)
      .selectAll()
      .execute();
    for (const chat of chats) {
      const messages = await db
        .selectFrom("messages")
        .where("chatId", "=", chat.id)
        .orderBy("id")
        .selectAll()
        .execute();
      yield* chatEntries(chat, messages, models);
    }
    const last = chats.at(-1);
    if (!last) return;
    after = last.id;
  }
}

function* chatEntries(chat: ChatRow, messages: MessageRow[], models: Map<string, string>): Generator<Entry> {
  const name = `conversaciones/${iso(chat.createdAt).slice(0, 10)} ${fileName(chat.title)} ${chat.id.slice(-6)}`;
  yield { name: `${name}.md`, text: chatAsMarkdown(chat, messages, models) };
  yield { name: `${name}.json`, text: JSON.stringify(chatAsJson(chat, messages, models), null, 2) };
}

const isoTimes = (name: string, value: unknown) => (/At$/.test(name) && typeof value === "number" ? iso(value) : value);

async function accountData({ db }: Services, userId: string) {
  const [user, subscriptions, usage, sessions, projects, files, emails] = await Promise.all([
    db.selectFrom("users").where("id", "=", userId).selectAll().executeTakeFirstOrThrow(),
    db.selectFrom("subscriptions").where("userId", "=", userId).selectAll().execute(),
    db.selectFrom("usage").where("userId", "=", userId).orderBy("day").selectAll().execute(),
    db
      .selectFrom("sessions")
      .where("userId", "=", userId)
      .select(["id", "createdAt", "lastSeenAt", "userAgent", "ip"])
      .execute(),
    db.selectFrom("projects").where("userId", "=", userId).selectAll().execute(),
    db.selectFrom("files").where("userId", "=", userId).selectAll().execute(),
    db.selectFrom("emails").where("userId", "=", userId).selectAll().execute(),
  ]);
  return { exportedAt: iso(Date.now()), user: showUser(user), subscriptions, usage, sessions, projects, files, emails };
}
