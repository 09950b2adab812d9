import { PassThrough, Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { sql } from "kysely";
import type { ZipFile } from "yazl";
import type { Db } from "../../db/engine.server.ts";
import type { ChatRow, ItemTable, Tables } from "../../db/tables.ts";
import { chatAsJson, chatAsMarkdown, type ExportAbout } from "../chats/chat-export.server.ts";
import { fileName, pathInArchive } from "../chats/path-in-archive.server.ts";
import type { Services as AllServices } from "../env.server.ts";
import { iso } from "../http/schemas.server.ts";
import { showUser } from "./user-fields.server.ts";

export type ExportServices = Pick<AllServices, "db" | "storage" | "log"> & {
  config: Pick<AllServices["config"], "aiNotice">;
};
/** `stored`: a file as it was uploaded, which is not compressed again: images, PDF and DOCX are compressed already. */
type Entry =
  | { name: string; text: AsyncIterable<string> | [string] }
  | { name: string; stored: AsyncIterable<Uint8Array> };

const chatsAtOnce = 20;

/** Name of the ZIP of somebody's data. */
export const exportName = () => `tertulia-${new Date().toISOString().slice(0, 10)}.zip`;

/** How many entries the ZIP of somebody will have, if nothing is added or deleted meanwhile. */
export async function countEntries({ db }: ExportServices, userId: string): Promise<number> {
  const count = async (table: "chats" | "files") => {
    const own = db.selectFrom(table).where("userId", "=", userId).where("sessionId", "is", null);
    return Number((await own.select((e) => e.fn.countAll().as("count")).executeTakeFirstOrThrow()).count);
  };
  return 1 + 2 * (await count("chats")) + (await count("files"));
}

/**
 * Everything of a person as a ZIP, streamed as it is made: `datos.json`, each chat as Markdown and JSON, each file as it was uploaded.
 * `told` is called after each entry with the number of entries so far; an error that it throws ends the ZIP, and so does `signal`.
 */
export async function* exportAccount(
  services: ExportServices,
  userId: string,
  {
    told = async () => {},
    signal = new AbortController().signal,
  }: { told?: (entries: number) => Promise<void>; signal?: AbortSignal } = {},
): AsyncGenerator<Uint8Array> {
  // Loaded when first used, to save memory.
  const { ZipFile } = await import("yazl");
  const zip = new ZipFile();
  const output = zip.outputStream.pipe(new PassThrough());
  const left = new AbortController();
  zip.on("error", (error) => output.destroy(error));
  const ends = AbortSignal.any([left.signal, signal]);
  const filled = fill(zip, entries(services, userId), told, ends).catch((error) => output.destroy(error));
  try {
    yield* output;
  } finally {
    // The reader has left, perhaps in the middle of a file.
    left.abort();
    await filled;
  }
}

/** Adds entries one after the other, as fast as the ZIP is read. */
async function fill(
  zip: ZipFile,
  entries: AsyncGenerator<Entry>,
  told: (entries: number) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  let added = 0;
  for await (const entry of entries) {
    const source = Readable.from("text" in entry ? entry.text : entry.stored);
    try {
      zip.addReadStream(source, entry.name, { compress: "text" in entry });
      await finished(source, { signal });
    } finally {
      source.destroy();
    }
    await told(++added);
  }
  zip.end();
}

async function* entries(services: ExportServices, userId: string): AsyncGenerator<Entry> {
  yield { name: "datos.json", text: [JSON.stringify(await accountData(services, userId), isoTimes, 2)] };
  const { db } = services;
  const { aiNotice } = services.config;
  const models = await db.selectFrom("models").select(["id", "name"]).execute();
  const about = { aiNotice, models: new Map(models.map(({ id, name }) => [id, name])) };
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
    for (const chat of chats) yield* chatEntries(db, chat, about);
    const last = chats.at(-1);
    if (!last) break;
    after = last.id;
  }
  yield* fileEntries(services, userId);
}

async function* fileEntries({ db, storage, log }: ExportServices, userId: string): AsyncGenerator<Entry> {
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

function* chatEntries(db: Db, chat: ChatRow, about: ExportAbout): Generator<Entry> {
  const { id, title, createdAt } = chat;
  const name = `conversaciones/${iso(createdAt).slice(0, 10)} ${fileName(title)} ${id.slice(-6)}`;
  yield { name: `${name}.md`, text: chatAsMarkdown(db, chat, about) };
  yield { name: `${name}.json`, text: chatAsJson(db, chat, about) };
}

const isoTimes = (name: string, value: unknown) => (/At$/.test(name) && typeof value === "number" ? iso(value) : value);

/** Tables with rows of a person. */
type OwnTable = { [T in ItemTable]: Tables[T] extends { userId: string | null } ? T : never }[ItemTable];

const exportedAsFiles = { excluded: "has files of its own in the archive" };
const secret = { excluded: "lets in whoever has it" };
const shortLived = { excluded: "is gone within a day" };

/**
 * Columns of a person's rows that go into `datos.json`, by table, or the reason why none does. The types fail for a table that is not
 * named here.
 */
const exported: { [T in OwnTable]: "all" | (keyof Tables[T])[] | { excluded: string } } = {
  acceptances: "all",
  artifacts: "all",
  artifactVersions: "all",
  apiKeys: ["id", "createdAt", "name", "scope", "lastUsedAt"],
  assistants: "all",
  authenticators: secret,
  batches: "all",
  batchQuestions: "all",
  chats: exportedAsFiles,
  completions: shortLived,
  devices: ["id", "createdAt"],
  driveAccounts: ["id", "createdAt", "driveId", "username"],
  emails: "all",
  errands: "all",
  errandSteps: "all",
  files: ["id", "createdAt", "name", "address", "mediaType", "size", "sha256", "projectId"],
  folders: ["id", "createdAt", "projectId", "path"],
  holds: { excluded: "is the house's" },
  idempotency: shortLived,
  identities: ["id", "createdAt", "accessId", "subject"],
  invitations: ["id", "createdAt", "email", "role", "usedAt"],
  jobs: shortLived,
  memories: "all",
  members: ["id", "createdAt", "groupId"],
  messages: exportedAsFiles,
  notices: ["id", "createdAt", "text", "endsAt"],
  noticesRead: ["id", "createdAt", "noticeId"],
  opinions: "all",
  passkeys: ["id", "createdAt", "name", "lastUsedAt"],
  passwordResets: secret,
  projectMembers: "all",
  projects: "all",
  provisioned: ["id", "createdAt", "externalId", "userName"],
  replyFeeds: secret,
  responses: { excluded: "repeats a chat" },
  rooms: "all",
  skills: "all",
  skillFiles: "all",
  schedules: "all",
  sessions: ["id", "createdAt", "lastSeenAt", "userAgent", "ip"],
  speeches: { excluded: "repeats a reply" },
  subscriptions: "all",
  templates: "all",
  turns: shortLived,
  textUse: { excluded: "counts the messages" },
  toolAccounts: ["id", "createdAt", "toolId", "connectedAt"],
  usage: "all",
};

async function accountData({ db }: ExportServices, userId: string) {
  const user = await db.selectFrom("users").where("id", "=", userId).selectAll().executeTakeFirstOrThrow();
  const rows: Record<string, object[]> = {};
  for (const [table, columns] of Object.entries(exported)) {
    if (columns !== "all" && !Array.isArray(columns)) continue;
    const own = db
      .selectFrom(table as "projects")
      .where("userId", "=", userId)
      .$if(table === "files" || table === "artifacts", (files) => files.where(sql`"sessionId"`, "is", null))
      .$if(table === "sessions", (sessions) => sessions.where(sql`"roomId"`, "is", null))
      .$if(table === "artifactVersions", (versions) =>
        versions.where(sql<boolean>`"artifactId" in (select id from artifacts where "sessionId" is null)`),
      )
      .orderBy("id");
    rows[table] = await (columns === "all" ? own.selectAll() : own.select(columns as ["id"])).execute();
  }
  return { exportedAt: iso(Date.now()), user: showUser(user, user), ...rows };
}
