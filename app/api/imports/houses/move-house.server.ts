import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { v7 as newId } from "uuid";
import type { Db } from "../../../db/engine.server.ts";
import { newRow } from "../../../db/rows.server.ts";
import type { FileRow } from "../../../db/tables.ts";
import type { Files } from "../../../files/files.server.ts";
import { JobFailed } from "../../../jobs/jobs.server.ts";
import { limits } from "../../../process/limits.ts";
import { cutText } from "../../../process/text/cut-text.ts";
import { accountRow, storeAccount } from "../../users/new-account.server.ts";
import { addChat, isImported, takeFound } from "../add-chat.server.ts";
import type { ImportedFile } from "../formats/imported-chat.server.ts";
import { type FoundChat, type FoundFile, findFiles } from "../found-chat.server.ts";
import { findMoved, findMovedGroup, keepMoved } from "../moves.server.ts";
import { counted, type House, type HouseFile, type HousePerson } from "./house.server.ts";

/** Counts of what a move has brought, and of what was here already. */
export type Moved = {
  people: number;
  joined: number;
  groups: number;
  projects: number;
  templates: number;
  assistants: number;
  chats: number;
  messages: number;
  files: number;
  known: number;
  /** Names of files that did not come, and sentences about other things. */
  lostFiles: string[];
  left: string[];
  /** Accounts that nobody can sign in to yet. */
  made: { id: string; email: string }[];
};

/** `folder`: an empty folder, for pictures that the text of chats contains. */
type MoveServices = {
  db: Db;
  files: Files;
  folder: string;
  now: () => number;
  told?: (chats: number, of: number) => void;
};

/**
 * Moves the data of a house in another program to the accounts with the same e-mail addresses; missing accounts are made. A repeated
 * move adds only new data. `isTried`: nothing is stored, and the counts say what a move would store.
 */
export async function moveHouse(services: MoveServices, house: House, isTried: boolean): Promise<Moved> {
  return new Move(services, house, isTried).run();
}

type Place = { userId: string; projectId: string | null };

const dataUrl = /^data:image\/(\w+);base64,/;

class Move {
  readonly #services: MoveServices;
  readonly #house: House;
  readonly #isTried: boolean;
  readonly #people = new Map<string, string>();
  readonly #groups = new Map<string, string>();
  readonly #projects = new Map<string, string>();
  readonly #projectOwners = new Map<string, string>();
  /** Pictures of the chat that is being added. */
  readonly #pictures: string[] = [];
  readonly #taken = new Map<string, FileRow | undefined>();
  readonly #moved: Moved = {
    people: 0,
    joined: 0,
    groups: 0,
    projects: 0,
    templates: 0,
    assistants: 0,
    chats: 0,
    messages: 0,
    files: 0,
    known: 0,
    lostFiles: [],
    left: [],
    made: [],
  };

  constructor(services: MoveServices, house: House, isTried: boolean) {
    this.#services = services;
    this.#house = house;
    this.#isTried = isTried;
  }

  async run(): Promise<Moved> {
    for (const person of this.#house.people) await this.#person(person);
    for (const group of this.#house.groups) await this.#group(group);
    for (const project of this.#house.projects) await this.#project(project);
    for (const template of this.#house.templates) await this.#template(template);
    for (const assistant of this.#house.assistants) await this.#assistant(assistant);
    await this.#chats();
    this.#moved.left.push(...this.#house.left);
    return this.#moved;
  }

  async #person({ id, name, email, isAdmin }: HousePerson): Promise<void> {
    const { db, now } = this.#services;
    const emailKey = email.trim().toLowerCase();
    if (!emailKey.includes("@")) {
      this.#moved.left.push(`La cuenta «${name}», que no tiene correo.`);
      return;
    }
    const known = db.selectFrom("users").where("emailKey", "=", emailKey);
    const before = await known.select(["id", "email", "passwordHash", "lastSeenAt"]).executeTakeFirst();
    if (before) {
      this.#moved.joined++;
      // Made, perhaps, by a move that broke off.
      if (!before.passwordHash && before.lastSeenAt === null) this.#moved.made.push(before);
      this.#people.set(id, before.id);
      return;
    }
    const shown = { name: cutText(name.trim() || emailKey, limits.name), email: email.trim() };
    const role = isAdmin ? "admin" : "user";
    const row = accountRow({ ...shown, passwordHash: "", role, status: "active" }, now(), { entersNow: false });
    this.#moved.people++;
    this.#moved.made.push({ id: row.id, email: row.email });
    this.#people.set(id, row.id);
    if (this.#isTried) return;
    const isStored = await db.transaction().execute((trx) => storeAccount(trx, row));
    if (!isStored) throw new Error("the address has been taken meanwhile");
  }

  /** Makes a group. An existing group of the same name is not used: it is another group, with rights of its own. */
  async #group({ id, name, description, people }: House["groups"][number]): Promise<void> {
    const { db } = this.#services;
    const origin = { source: this.#house.source, externalId: id };
    const before = await findMovedGroup(db, origin);
    const groupId = before ?? newId();
    this.#groups.set(id, groupId);
    if (!before) this.#moved.groups++;
    if (this.#isTried) return;
    if (!before) {
      const limitless = {
        messagesPerDay: null,
        tokensPerMonth: null,
        costPerMonth: null,
        budget: null,
        minors: 0 as const,
      };
      const text = cutText(description, limits.groupDescription);
      const free = await this.#freeGroupName(name.trim() || "Sin nombre");
      await db.transaction().execute(async (trx) => {
        await trx
          .insertInto("groups")
          .values({ ...this.#row(), id: groupId, name: free, description: text, claim: null, ...limitless })
          .execute();
        await keepMoved(trx, { ...origin, kind: "group" }, groupId);
      });
    }
    for (const userId of new Set(people.flatMap((one) => this.#people.get(one) ?? []))) {
      const member = db.selectFrom("members").where("groupId", "=", groupId).where("userId", "=", userId);
      if (await member.select("id").executeTakeFirst()) continue;
      await db
        .insertInto("members")
        .values({ ...this.#row(), groupId, userId, accessId: null })
        .execute();
    }
  }

  /** A name that no other group has: «Tesorería», then «Tesorería (2)». */
  async #freeGroupName(name: string): Promise<string> {
    for (let n = 1; ; n++) {
      const mark = n === 1 ? "" : ` (${n})`;
      const tried = cutText(name, limits.name - mark.length) + mark;
      const taken = this.#services.db.selectFrom("groups").where("name", "=", tried).select("id");
      if (!(await taken.executeTakeFirst())) return tried;
    }
  }

  async #project({ id, person, name, description, instructions, files, readers }: House["projects"][number]) {
    const { db } = this.#services;
    const userId = this.#people.get(person);
    if (!userId) return;
    this.#projectOwners.set(id, userId);
    const projectId = await this.#once("project", id, userId, async (ownId) => {
      this.#moved.projects++;
      const row = {
        ...this.#row(),
        id: ownId,
        userId,
        name: cutText(name.trim() || "Sin nombre", limits.name),
        description: cutText(description, limits.projectDescription),
        instructions: cutText(instructions, limits.projectInstructions),
        draft: null,
      };
      if (!this.#isTried) await db.insertInto("projects").values(row).execute();
      for (const file of files) await this.#file(file, person, { userId, projectId: ownId });
      if (this.#isTried) return;
      for (const reader of new Set(readers.flatMap((one) => this.#people.get(one) ?? []))) {
        await db
          .insertInto("projectMembers")
          .values({ ...this.#row(), projectId: ownId, userId: reader, role: "reads" })
          .execute();
      }
    });
    this.#projects.set(id, projectId);
  }

  async #template({ id, person, title, content, shared }: House["templates"][number]): Promise<void> {
    const userId = this.#people.get(person);
    if (!userId || !content.trim()) return;
    await this.#once("template", id, userId, async (ownId) => {
      this.#moved.templates++;
      const row = {
        ...this.#row(),
        id: ownId,
        userId,
        title: cutText(title.trim() || content.trim(), limits.chatTitle),
        content: cutText(withBlanks(content), limits.templateContent),
        shared: shared ? (1 as const) : (0 as const),
      };
      if (!this.#isTried) await this.#services.db.insertInto("templates").values(row).execute();
    });
  }

  async #assistant({ id, person, files, sharedWith, model, beginnings, ...said }: House["assistants"][number]) {
    const { db } = this.#services;
    const userId = this.#people.get(person);
    if (!userId) return;
    await this.#once("assistant", id, userId, async (ownId) => {
      this.#moved.assistants++;
      const own: string[] = [];
      for (const file of files) {
        const stored = await this.#file(file, person, { userId, projectId: null });
        if (stored && own.length < limits.assistantFiles) own.push(stored.id);
      }
      if (this.#isTried) return;
      const found = await db.selectFrom("models").where("externalId", "=", model).select("id").executeTakeFirst();
      if (!found)
        this.#moved.left.push(
          `El modelo «${model}» del asistente «${said.name}», que aquí no está: usa el predeterminado.`,
        );
      const groupIds = Array.isArray(sharedWith) ? sharedWith.flatMap((one) => this.#groups.get(one) ?? []) : [];
      const row = {
        ...this.#row(),
        id: ownId,
        userId,
        name: cutText(said.name.trim() || "Sin nombre", limits.name),
        purpose: cutText(said.purpose, limits.assistantPurpose),
        instructions: cutText(said.instructions, limits.projectInstructions),
        modelId: found?.id ?? null,
        temperature:
          said.temperature !== null && said.temperature >= 0 && said.temperature <= 2 ? said.temperature : null,
        toolIds: null,
        fileIds: JSON.stringify(own),
        beginnings: JSON.stringify(
          beginnings.slice(0, limits.assistantBeginnings).map((one) => cutText(one, limits.assistantBeginning)),
        ),
        shared: sharedWith === "everybody" || groupIds.length > 0 ? (1 as const) : (0 as const),
        groupIds: groupIds.length > 0 ? JSON.stringify(groupIds) : null,
        version: 1,
      };
      await db.insertInto("assistants").values(row).execute();
    });
  }

  async #chats(): Promise<void> {
    let looked = 0;
    let [tooMany, unread] = [0, 0];
    for (const { person, project, chat } of this.#house.chats()) {
      this.#services.told?.(++looked, this.#house.chatCount);
      const userId = this.#people.get(person);
      if (!chat) unread++;
      if (!userId || !chat || chat.messages.length === 0) continue;
      const found = findFiles(chat, (file) => this.#find(file, person));
      const isOwn = project !== null && this.#projectOwners.get(project) === userId;
      const projectId = isOwn ? (this.#projects.get(project) ?? null) : null;
      const added = await this.#chat(userId, found, projectId);
      for (const path of this.#pictures.splice(0)) rmSync(path);
      if (added === "full") tooMany++;
      else if (!added) this.#moved.known++;
      else {
        this.#moved.chats++;
        this.#moved.messages += chat.messages.length;
        this.#moved.files += added.files;
        this.#moved.lostFiles.push(...[...found.left, ...added.left].map(({ name }) => name).filter(Boolean));
      }
    }
    const full = counted(tooMany, "conversación que no cabe", "conversaciones que no caben");
    const broken = counted(unread, "conversación ilegible", "conversaciones ilegibles");
    if (broken) this.#moved.left.push(`${broken}.`);
    if (full) this.#moved.left.push(`${full} en el plan de su persona. Amplíalo y repite la mudanza.`);
  }

  /** Adds a chat. Returns undefined if it is here already, «full» if its person's plan has no room for it. */
  async #chat(userId: string, found: FoundChat, projectId: string | null) {
    const { db, files } = this.#services;
    if (this.#isTried) {
      if (await isImported(db, userId, found)) return undefined;
      return { files: found.messages.flatMap((one) => one.files).length, left: [] };
    }
    try {
      return await addChat({ db, files }, userId, found, { projectId });
    } catch (error) {
      if (error instanceof JobFailed) return "full";
      throw error;
    }
  }

  /** A file of a chat, from the folder of the other program or from the text of the chat. */
  #find({ kind, name, ref }: ImportedFile, person: string): FoundFile | undefined {
    const [start, type] = dataUrl.exec(ref) ?? [];
    if (start) {
      const path = join(this.#services.folder, String(this.#pictures.length));
      const bytes = Buffer.from(ref.slice(start.length), "base64");
      if (!this.#isTried) {
        writeFileSync(path, bytes);
        this.#pictures.push(path);
      }
      return { kind, name: name || `imagen.${type}`, path, size: bytes.length };
    }
    const file = this.#fileOf(ref, person);
    if (!file?.path) return undefined;
    return { kind, name: name || file.name, path: file.path, size: statSync(file.path).size };
  }

  /** A file, if the person could open it in the other program: chats, folders and assistants may name any file. */
  #fileOf(id: string, person: string): HouseFile | undefined {
    const file = this.#house.files.get(id);
    return file?.readers.has(person) ? file : undefined;
  }

  async #file(id: string, person: string, { userId, projectId }: Place): Promise<FileRow | undefined> {
    const key = `${id} ${userId} ${projectId}`;
    if (this.#taken.has(key)) return this.#taken.get(key);
    const file = this.#fileOf(id, person);
    const found = file?.path ? { path: file.path, name: file.name, size: statSync(file.path).size } : undefined;
    const stored =
      found && !this.#isTried ? await takeFound(this.#services.files, found, userId, projectId) : undefined;
    if (stored || (this.#isTried && found)) this.#moved.files++;
    else this.#moved.lostFiles.push(file?.name ?? id);
    this.#taken.set(key, stored);
    return stored;
  }

  /** Makes an item, unless an earlier move made it and it still exists. Returns the id of the item here. */
  async #once(
    kind: "project" | "template" | "assistant",
    externalId: string,
    userId: string,
    make: (ownId: string) => Promise<void>,
  ): Promise<string> {
    const { db } = this.#services;
    const origin = { source: this.#house.source, kind, externalId };
    const before = await findMoved(db, userId, origin);
    if (before) {
      this.#moved.known++;
      return before;
    }
    const ownId = newId();
    await make(ownId);
    if (!this.#isTried) await keepMoved(db, origin, ownId);
    return ownId;
  }

  #row() {
    const now = this.#services.now();
    return newRow(now);
  }
}

/** Variables of other programs as blanks: {{ciudad | type:text}} is {{ciudad}}, {{color:rojo|azul}} is {{color}}. */
const withBlanks = (content: string) =>
  content.replace(
    /\{\{\s*([^{}|:]{1,60}?)\s*(?:[|:][^{}]*)?\}\}/g,
    (_, name: string) => `{{${name.replace(/_/g, " ").toLowerCase()}}}`,
  );

/** A move in sentences, for the person who asked for the move. */
export function movedInWords(moved: Moved, isTried: boolean): string[] {
  const things = [
    counted(moved.people, "cuenta nueva", "cuentas nuevas"),
    counted(moved.joined, "cuenta que ya estaba", "cuentas que ya estaban"),
    counted(moved.groups, "grupo", "grupos"),
    counted(moved.projects, "proyecto", "proyectos"),
    counted(moved.templates, "plantilla", "plantillas"),
    counted(moved.assistants, "asistente", "asistentes"),
    counted(moved.chats, "conversación", "conversaciones"),
    counted(moved.messages, "mensaje", "mensajes"),
    counted(moved.files, "archivo", "archivos"),
  ].filter((one) => one !== undefined);
  const names = [...new Set(moved.lostFiles)].slice(0, 10).join(", ");
  const lost = counted(
    moved.lostFiles.length,
    "archivo, que no está o aquí no se admite",
    "archivos, que no están o aquí no se admiten",
  );
  return [
    `${isTried ? "Vendrían" : "Han venido"}: ${things.join(", ") || "nada nuevo"}.`,
    moved.known > 0 ? `Ya estaban de otra vez: ${moved.known.toLocaleString("es")}.` : "",
    lost || moved.left.length > 0 ? "No vienen:" : "",
    lost ? `- ${lost}: ${names}${moved.lostFiles.length > 10 ? " y más" : ""}.` : "",
    ...moved.left.map((sentence) => `- ${sentence}`),
  ].filter(Boolean);
}
