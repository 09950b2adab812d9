import { extname } from "node:path";
import { Readable } from "node:stream";
import type { Context } from "hono";
import { chatAsJson, chatAsMarkdown, fileName, wholeChat } from "../chats/chat-export.server.ts";
import type { ApiEnv, Services } from "../env.server.ts";
import { iso } from "../http/schemas.server.ts";
import { showUser } from "./user-fields.server.ts";

type Entry = { name: string; text: string } | { name: string; bytes: Uint8Array };

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
    // Not compressed again: images, PDF and DOCX are compressed already.
    const file = "text" in entry ? new ZipDeflate(entry.name) : new ZipPassThrough(entry.name);
    zip.add(file);
    file.push("text" in entry ? strToU8(entry.text) : entry.bytes, true);
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
      .where("sessionId", "is", null)
      .where("id", ">", after)
      .orderBy("id")
      .limit(chatsAtOnce)
      .selectAll()
      .execute();
    for (const chat of chats) yield* chatEntries(await wholeChat(db, chat), models);
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
    const ending = extname(name);
    try {
      const bytes = await storage.read(id, "original");
      yield {
        name: `archivos/${fileName(name.slice(0, name.length - ending.length))} ${id.slice(-6)}${ending}`,
        bytes,
      };
    } catch (error) {
      // The file was deleted meanwhile or its bytes are lost; the rest is still exported.
      log.warn({ fileId: id, err: error as Error }, "un archivo no está en la descarga");
    }
  }
}

function* chatEntries(whole: Awaited<ReturnType<typeof wholeChat>>, models: Map<string, string>): Generator<Entry> {
  const { id, title, createdAt } = whole.chat;
  const name = `conversaciones/${iso(createdAt).slice(0, 10)} ${fileName(title)} ${id.slice(-6)}`;
  yield { name: `${name}.md`, text: chatAsMarkdown(whole, models) };
  yield { name: `${name}.json`, text: JSON.stringify(chatAsJson(whole, models), null, 2) };
}

const isoTimes = (name: string, value: unknown) => (/At$/.test(name) && typeof value === "number" ? iso(value) : value);

async function accountData({ db }: Services, userId: string) {
  const [user, subscriptions, usage, sessions, keys, projects, files, emails] = await Promise.all([
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
      .select(["id", "createdAt", "name", "mediaType", "size", "sha256", "projectId"])
      .execute(),
    db.selectFrom("emails").where("userId", "=", userId).selectAll().execute(),
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
  };
}
