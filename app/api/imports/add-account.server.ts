import { v7 as newId } from "uuid";
import type { Db } from "../../db/engine.server.ts";
import type { MoveRow } from "../../db/tables.ts";
import type { Files } from "../../files/files.server.ts";
import { FileRefused } from "../../files/refused.server.ts";
import { limits } from "../../process/limits.ts";
import { nextTime } from "../schedules/next-time.server.ts";
import type { FoundAccount, FoundFile } from "./found-chat.server.ts";

/** Ids here of things that chats refer to, by their ids in the export, and how many things and files were added. */
export type AddedAccount = {
  projects: Map<string, string>;
  assistants: Map<string, string>;
  things: number;
  files: number;
  left: Pick<FoundFile, "kind" | "name">[];
};

type Kind = Exclude<MoveRow["kind"], "person" | "group">;
const tables = { project: "projects", template: "templates", assistant: "assistants", schedule: "schedules" } as const;

/**
 * Adds projects, assistants, templates, scheduled questions and files of a Tertulia's export to an account: each once, also when it is
 * imported again, or into the house that it comes from. Nothing of it is for others.
 */
export async function addAccount(
  { db, files }: { db: Db; files: Files },
  userId: string,
  account: FoundAccount,
): Promise<AddedAccount> {
  const added: AddedAccount = { projects: new Map(), assistants: new Map(), things: 0, files: 0, left: [] };
  const row = () => ({ createdAt: Date.now(), updatedAt: Date.now() });
  const once = async (kind: Kind, externalId: string, make: (ownId: string) => Promise<unknown>): Promise<string> => {
    const before = await findAdded(db, userId, kind, externalId);
    if (before) return before;
    const ownId = newId();
    await make(ownId);
    added.things++;
    const move = { kind, source: "tertulia" as const, externalId: `${userId} ${externalId}`, ownId };
    await db
      .insertInto("moves")
      .values({ id: newId(), ...row(), ...move })
      .execute();
    return ownId;
  };
  for (const { id, ...said } of account.projects) {
    const make = (ownId: string) =>
      db
        .insertInto("projects")
        .values({ id: ownId, ...row(), userId, draft: null, ...said })
        .execute();
    added.projects.set(id, await once("project", id, make));
  }
  const fileIds = new Map<string, string>();
  for (const { id, projectId, ...found } of account.files) {
    const stored = await takeFile(files, found, userId, (projectId && added.projects.get(projectId)) || null);
    if (stored) {
      fileIds.set(id, stored.id);
      if (!stored.isKnown) added.files++;
    } else added.left.push(found);
  }
  for (const { id, ...said } of account.templates) {
    const make = (ownId: string) =>
      db
        .insertInto("templates")
        .values({ id: ownId, ...row(), userId, shared: 0, ...said })
        .execute();
    await once("template", id, make);
  }
  for (const { id, modelId, fileIds: own, beginnings, ...said } of account.assistants) {
    const columns = {
      ...said,
      modelId: await knownModel(db, modelId),
      toolIds: null,
      fileIds: JSON.stringify(own.flatMap((one) => fileIds.get(one) ?? []).slice(0, limits.assistantFiles)),
      beginnings: JSON.stringify(
        beginnings
          .slice(0, limits.assistantBeginnings)
          .map((one) => one.slice(0, limits.assistantBeginning).toWellFormed()),
      ),
      shared: 0 as const,
      groupIds: null,
      version: 1,
    };
    const make = (ownId: string) =>
      db
        .insertInto("assistants")
        .values({ id: ownId, ...row(), userId, ...columns })
        .execute();
    added.assistants.set(id, await once("assistant", id, make));
  }
  const own = db.selectFrom("schedules").where("userId", "=", userId).select("id");
  let room = limits.schedules - (await own.execute()).length;
  for (const { id, modelId, assistantId, ...said } of account.schedules) {
    if (room <= 0) break;
    const columns = {
      ...said,
      modelId: await knownModel(db, modelId),
      assistantId: (assistantId && added.assistants.get(assistantId)) || null,
      nextAt: nextTime({ ...said, days: JSON.parse(said.days) }, Date.now()),
      askedAt: null,
      chatId: null,
      problem: null,
    };
    const make = async (ownId: string) => {
      room--;
      await db
        .insertInto("schedules")
        .values({ id: ownId, ...row(), userId, ...columns })
        .execute();
    };
    await once("schedule", id, make);
  }
  return added;
}

/** The thing here that came from one of an export, or is that one itself: it was exported from this house. */
async function findAdded(db: Db, userId: string, kind: Kind, externalId: string): Promise<string | undefined> {
  const moved = await db
    .selectFrom("moves")
    .where("source", "=", "tertulia")
    .where("kind", "=", kind)
    .where("externalId", "=", `${userId} ${externalId}`)
    .select("ownId")
    .executeTakeFirst();
  if (moved) return moved.ownId;
  const own = db.selectFrom(tables[kind]).where("id", "=", externalId).where("userId", "=", userId).select("id");
  return (await own.executeTakeFirst())?.id;
}

async function knownModel(db: Db, id: string | null): Promise<string | null> {
  if (!id) return null;
  return (await db.selectFrom("models").where("id", "=", id).select("id").executeTakeFirst())?.id ?? null;
}

async function takeFile(files: Files, file: Omit<FoundFile, "kind">, userId: string, projectId: string | null) {
  const begun = Date.now();
  try {
    const { id, createdAt } = await files.take(file, { userId, projectId, temporary: false });
    return { id, isKnown: createdAt < begun };
  } catch (error) {
    if (error instanceof FileRefused) return undefined;
    throw error;
  }
}
