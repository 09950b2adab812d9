import { Readable } from "node:stream";
import type { Context } from "hono";
import type { Db } from "../../db/connection.server.ts";
import type { ChatRow } from "../../db/tables.ts";
import { chatAsJson, chatAsMarkdown, fileName, pathInArchive } from "../chats/chat-export.server.ts";
import type { ApiEnv, Services } from "../env.server.ts";
import { iso } from "../http/schemas.server.ts";
import { showUser } from "./user-fields.server.ts";

/** `stored`: a file as it was uploaded, which is not compressed again: images, PDF and DOCX are compressed already. */
type Entry =
  | { name: string; text: AsyncIterable<string> | [string] }
  | { name: string; stored: AsyncIterable<Uint8Array> };

const chatsAtOnce = 20;

/**
 * Everything of a person as a ZIP: `datos.json`, each chat as Markdown and JSON, each file as it was uploaded. Streamed
 * while it is made.
 */
export function exportAccount(c: Context<ApiEnv>) {
  const { services, person } = c.var;
  const day = new Date().toISOString().slice(0, 10);
  return {
    body: Readable.toWeb(Readable.from(zipped(entries(services, person.id)))) as ReadableStream<Uint8Array>,
    headers: {
      "Content-Type": "application/zip",
      "Content-Disposition": `attachment; filename="tertulia-${day}.zip"`,
    },
  };
}

async function* zipped(files: AsyncGenerator<Entry>): AsyncGenerator<Uint8Array> {
  // Loaded when first used, to save memory.
  const { strToU8, Zip, ZipDeflate, ZipPassThrough } = await import("fflate");
  const ready: Uint8Array[] = [];
  const zip = new Zip((error, chunk) => {
    if (error) throw error;
    ready.push(chunk);
  });
  for await (const entry of files) {
    const file = "text" in entry ? new ZipDeflate(entry.name) : new ZipPassThrough(entry.name);
    zip.add(file);
    for await (const part of "text" in entry ? entry.text : entry.stored) {
      file.push(typeof part === "string" ? strToU8(part) : part);
      yield* ready.splice(0);
    }
    file.push(new Uint8Array(), true);
    yield* ready.splice(0);
  }
  zip.end();
  yield* ready.splice(0);
}

async function* entries(services: Services, userId: string): AsyncGenerator<Entry> {
  yield { name: "datos.json", text: [JSON.stringify(await accountData(services, userId), isoTimes, 2)] };
  const { db } = services;
  const models = new Map(
    (await db.selectFrom("models").select(["id", "name"]).execute()).map(({ id, name }) => [id, name]),
  );
  for (let after = ""; ; ) {
    const chats = await db
      .selectFrom("chats")
      .where("userId", "=", userId)
      .where("sessionId", "is", null)
      .where("id", ">", after)
      .orderBy("id")
      .limit(chatsAtOnce)
      .selectAll()
      .execute();
    for (const chat of chats) yield* chatEntries(db, chat, models);
    const last = chats.at(-1);
    if (!last) break;
    after = last.id;
  }
  yield* fileEntries(services, userId);
}

async function* fileEntries({ db, storage, log }: Services, userId: string): AsyncGenerator<Entry> {
  const files = await db
    .selectFrom("files")
    .where("userId", "=", userId)
    .where("sessionId", "is", null)
    .orderBy("id")
    .select(["id", "name"])
    .execute();
  for (const { id, name } of files) {
    const content = await storage.stream(id, "original");
    if (content) yield { name: pathInArchive(id, name), stored: content.read() };
    // The file was deleted meanwhile or its bytes are lost; the rest is still exported.
    else log.warn({ fileId: id }, "un archivo no está en la descarga");
  }
}

function* chatEntries(db: Db, chat: ChatRow, models: Map<string, string>): Generator<Entry> {
  const { id, title, createdAt } = chat;
  const name = `conversaciones/${iso(createdAt).slice(0, 10)} ${fileName(title)} ${id.slice(-6)}`;
  yield { name: `${name}.md`, text: chatAsMarkdown(db, chat, models) };
  yield { name: `${name}.json`, text: chatAsJson(db, chat, models) };
}

const isoTimes = (name: string, value: unknown) => (/At$/.test(name) && typeof value === "number" ? iso(value) : value);

async function accountData({ db }: Services, userId: string) {
  const [user, subscriptions, usage, sessions, keys, projects, files, emails, opinions, acceptances, passkeys] =
    await Promise.all([
      db.selectFrom("users").where("id", "=", userId).selectAll().executeTakeFirstOrThrow(),
      db.selectFrom("subscriptions").where("userId", "=", userId).selectAll().execute(),
      db.selectFrom("usage").where("userId", "=", userId).orderBy("day").selectAll().execute(),
      db
        .selectFrom("sessions")
        .where("userId", "=", userId)
        .select(["id", "createdAt", "lastSeenAt", "userAgent", "ip"])
        .execute(),
      db
        .selectFrom("apiKeys")
        .where("userId", "=", userId)
        .select(["id", "createdAt", "name", "scope", "lastUsedAt"])
        .execute(),
      db.selectFrom("projects").where("userId", "=", userId).selectAll().execute(),
      db
        .selectFrom("files")
        .where("userId", "=", userId)
        .where("sessionId", "is", null)
        .select(["id", "createdAt", "name", "address", "mediaType", "size", "sha256", "projectId"])
        .execute(),
      db.selectFrom("emails").where("userId", "=", userId).selectAll().execute(),
      db.selectFrom("opinions").where("userId", "=", userId).selectAll().execute(),
      db.selectFrom("acceptances").where("userId", "=", userId).select(["updatedAt as acceptedAt"]).execute(),
      db
        .selectFrom("passkeys")
        .where("userId", "=", userId)
        .select(["id", "createdAt", "name", "lastUsedAt"])
        .execute(),
    ]);
  return {
    exportedAt: iso(Date.now()),
    user: showUser(user),
    subscriptions,
    usage,
    sessions,
    keys,
    projects,
    files,
    emails,
    opinions,
    acceptances,
    passkeys,
  };
}
