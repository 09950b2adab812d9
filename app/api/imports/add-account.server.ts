import { v7 as newId } from "uuid";
import type { Db } from "../../db/engine.server.ts";
import type { MoveRow } from "../../db/tables.ts";
import type { Files } from "../../files/files.server.ts";
import { limits } from "../../process/limits.ts";
import { nextTime } from "../schedules/next-time.server.ts";
import { takeFound } from "./add-chat.server.ts";
import type { FoundAccount, FoundFile } from "./found-chat.server.ts";
import { findMoved, findOwn, keepMoved } from "./moves.server.ts";

/** Ids here of things that chats refer to, by their ids in the export, and how many things and files were added. */
export type AddedAccount = {
  projects: Map<string, string>;
  assistants: Map<string, string>;
  fileIds: Map<string, string>;
  things: number;
  files: number;
  left: Pick<FoundFile, "kind" | "name">[];
};

/** Account that is being added to; `once` makes a thing unless it is here already, and returns its id. */
type Adding = {
  db: Db;
  userId: string;
  added: AddedAccount;
  once(kind: Exclude<MoveRow["kind"], "group">, externalId: string, make: Make): Promise<string>;
};
type NewRow = { id: string; createdAt: number; updatedAt: number; userId: string };
type Make = (row: NewRow, trx: Db) => Promise<unknown>;

/**
 * Adds projects, assistants, templates, scheduled questions, skills and files of a Tertulia's export to an account: each once, even if the
 * export is imported again, or into the house that it comes from. Nothing that is added is shared with others.
 */
export async function addAccount(
  { db, files }: { db: Db; files: Files },
  userId: string,
  account: FoundAccount,
): Promise<AddedAccount> {
  const added: AddedAccount = {
    ...{ projects: new Map(), assistants: new Map(), fileIds: new Map() },
    ...{ things: 0, files: 0, left: [] },
  };
  const adding: Adding = {
    ...{ db, userId, added },
    async once(kind, externalId, make) {
      const origin = { kind, source: "tertulia" as const, externalId: `${userId} ${externalId}` };
      const before = (await findMoved(db, userId, origin)) ?? (await findOwn(db, userId, kind, externalId));
      if (before) return before;
      const [now, id] = [Date.now(), newId()];
      await db.transaction().execute(async (trx) => {
        await make({ id, createdAt: now, updatedAt: now, userId }, trx);
        await keepMoved(trx, origin, id);
      });
      added.things++;
      return id;
    },
  };
  for (const { id, ...said } of account.projects) {
    const make: Make = (row, trx) =>
      trx
        .insertInto("projects")
        .values({ ...row, draft: null, ...said })
        .execute();
    added.projects.set(id, await adding.once("project", id, make));
  }
  for (const { id, ...said } of account.templates) {
    const make: Make = (row, trx) =>
      trx
        .insertInto("templates")
        .values({ ...row, shared: 0, ...said })
        .execute();
    await adding.once("template", id, make);
  }
  await addFiles(files, account.files, adding);
  for (const assistant of account.assistants) await addAssistant(assistant, adding);
  await addSchedules(account.schedules, adding);
  await addSkills(account, adding);
  return added;
}

async function addFiles(files: Files, found: FoundAccount["files"], { userId, added }: Adding): Promise<void> {
  for (const { id, projectId, ...file } of found) {
    const begun = Date.now();
    const stored = await takeFound(files, file, userId, (projectId && added.projects.get(projectId)) || null);
    if (!stored) {
      added.left.push(file);
      continue;
    }
    added.fileIds.set(id, stored.id);
    // A file that was here before is returned as it is.
    if (stored.createdAt >= begun) added.files++;
  }
}

async function addAssistant(
  { id, modelId, fileIds, beginnings, ...said }: FoundAccount["assistants"][number],
  { db, added, once }: Adding,
): Promise<void> {
  const columns = {
    ...said,
    modelId: await knownModel(db, modelId),
    toolIds: null,
    fileIds: JSON.stringify(fileIds.flatMap((one) => added.fileIds.get(one) ?? []).slice(0, limits.assistantFiles)),
    beginnings: JSON.stringify(
      beginnings
        .slice(0, limits.assistantBeginnings)
        .map((one) => one.slice(0, limits.assistantBeginning).toWellFormed()),
    ),
    shared: 0 as const,
    groupIds: null,
    version: 1,
  };
  const make: Make = (row, trx) =>
    trx
      .insertInto("assistants")
      .values({ ...row, ...columns })
      .execute();
  added.assistants.set(id, await once("assistant", id, make));
}

/** Adds as many schedules as a person may have. */
async function addSchedules(schedules: FoundAccount["schedules"], { db, userId, added, once }: Adding): Promise<void> {
  const own = db.selectFrom("schedules").where("userId", "=", userId).select("id");
  let room = limits.schedules - (await own.execute()).length;
  for (const { id, modelId, assistantId, ...said } of schedules) {
    if (room <= 0) break;
    const columns = {
      ...said,
      modelId: await knownModel(db, modelId),
      assistantId: (assistantId && added.assistants.get(assistantId)) || null,
      nextAt: nextTime({ ...said, days: JSON.parse(said.days) }, Date.now()),
      askedAt: null,
      chatId: null,
      errandId: null,
      problem: null,
    };
    await once("schedule", id, async (row, trx) => {
      room--;
      await trx
        .insertInto("schedules")
        .values({ ...row, ...columns })
        .execute();
    });
  }
}

/** Adds as many skills as a person may have; a skill whose name is already taken is left out. */
async function addSkills({ skills, skillFiles }: FoundAccount, { db, userId, once }: Adding): Promise<void> {
  const own = await db.selectFrom("skills").where("userId", "=", userId).select(["id", "name"]).execute();
  const names = new Set(own.map(({ name }) => name));
  for (const { id, ...said } of skills) {
    if (names.has(said.name) || names.size >= limits.skills) continue;
    names.add(said.name);
    await once("skill", id, async (row, trx) => {
      await trx
        .insertInto("skills")
        .values({ ...row, ...said, shared: 0, groupIds: null, version: 1 })
        .execute();
      const texts = skillFiles.filter(({ skillId }) => skillId === id).slice(0, limits.skillFiles);
      for (const { path, text } of texts) {
        const times = { createdAt: row.createdAt, updatedAt: row.updatedAt };
        const file = { id: newId(), ...times, userId, skillId: row.id, path, text, size: Buffer.byteLength(text) };
        await trx.insertInto("skillFiles").values(file).execute();
      }
    });
  }
}

async function knownModel(db: Db, id: string | null): Promise<string | null> {
  if (!id) return null;
  return (await db.selectFrom("models").where("id", "=", id).select("id").executeTakeFirst())?.id ?? null;
}
