import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ObjectId, serialize } from "bson";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { House } from "../../app/api/imports/houses/house.server.ts";
import { libreChatHouse } from "../../app/api/imports/houses/librechat-house.server.ts";
import { moveHouse } from "../../app/api/imports/houses/move-house.server.ts";
import { openWebUiHouse } from "../../app/api/imports/houses/open-webui-house.server.ts";
import { type Api, openApi } from "../support/api.ts";
import { queryEngines } from "../support/engines.ts";
import { makeOpenWebUi } from "./open-webui.ts";

const newFolder = () => mkdtempSync(join(tmpdir(), "tertulia-prueba-"));
const engines = await queryEngines();

describe.each(engines)("a house of Open WebUI on $name", (engine) => {
  describe.each(["2025", "2026"] as const)("of %s", (era) => {
    let api: Api;
    let house: House;
    beforeAll(async () => {
      api = await openApi(engine);
      const { database, uploads } = makeOpenWebUi(newFolder(), era);
      house = openWebUiHouse(database, uploads);
    });
    afterAll(async () => {
      house.close();
      await api.close();
    });
    const move = (isTried = false) => {
      const { db, files } = api.services;
      return moveHouse({ db, files, folder: newFolder(), now: Date.now }, house, isTried);
    };
    const person = async (email: string) =>
      api.db.selectFrom("users").where("emailKey", "=", email).selectAll().executeTakeFirstOrThrow();

    it("says first what would come, and stores nothing", async () => {
      const moved = await move(true);
      expect(moved).toMatchObject({
        people: 2,
        groups: 2,
        projects: 3,
        templates: 2,
        assistants: 2,
        chats: era === "2026" ? 3 : 2,
      });
      expect(await api.db.selectFrom("users").select("id").execute()).toEqual([]);
    });

    it("comes with people, groups, folders, prompts, assistants and documents", async () => {
      const moved = await move();
      expect(moved).toMatchObject({ people: 2, groups: 2, projects: 3, templates: 2, assistants: 2 });
      expect(moved.left.join(" ")).toContain("1 cuenta que esperaba");
      const [ana, bea] = [await person("ana@casa.example"), await person("bea@casa.example")];
      expect([ana.role, ana.passwordHash, bea.role]).toEqual(["admin", "", "user"]);
      const members = api.db.selectFrom("members").innerJoin("groups", "groups.id", "groupId").orderBy("name");
      expect(await members.select(["name", "members.userId"]).execute()).toEqual([
        { name: "Tesorería", userId: bea.id },
        { name: "Tesorería (2)", userId: ana.id },
      ]);
      const projects = await api.db.selectFrom("projects").select(["name", "instructions"]).orderBy("name").execute();
      expect(projects).toEqual([
        { name: "Actas", instructions: "" },
        { name: "Obras", instructions: "Contesta breve." },
        { name: "Obras / Tejado", instructions: "" },
      ]);
      const readers = api.db.selectFrom("projectMembers").innerJoin("projects", "projects.id", "projectId");
      expect(await readers.select(["name", "projectMembers.userId", "role"]).execute()).toEqual([
        { name: "Actas", userId: ana.id, role: "reads" },
      ]);
      const [template, own] = await api.db.selectFrom("templates").orderBy("title").selectAll().execute();
      expect(own).toMatchObject({ title: "Mío", shared: 0 });
      expect(template).toMatchObject({
        title: "Carta",
        content: "Escribe a {{destinatario}} sobre {{asunto breve}}.",
        shared: 1,
      });
      const [assistant, diary] = await api.db.selectFrom("assistants").orderBy("name").selectAll().execute();
      expect(diary).toMatchObject({ name: "Diario", shared: 0, groupIds: null, fileIds: "[]" });
      const [group] = await api.db.selectFrom("groups").orderBy("name").select("id").execute();
      expect(assistant).toMatchObject({
        name: "Cronista",
        instructions: "Redactas actas.",
        temperature: 0.4,
        shared: 1,
      });
      expect([assistant?.groupIds, JSON.parse(assistant?.fileIds ?? "[]").length]).toEqual([
        JSON.stringify([group?.id]),
        1,
      ]);
    });

    it("gives nobody what they could not open there", async () => {
      const { id } = await person("ana@casa.example");
      const names = await api.db.selectFrom("files").where("userId", "=", id).select("name").orderBy("name").execute();
      expect(names.map(({ name }) => name)).toEqual(["acta.txt", "plano.png"]);
      const chat = api.db.selectFrom("chats").where("title", "=", "Chat 2").select("projectId");
      expect(await chat.executeTakeFirst()).toEqual({ projectId: null });
    });

    it("brings chats with folders, branches, marks and files", async () => {
      const chats = await api.db.selectFrom("chats").selectAll().orderBy("title").execute();
      expect(chats.map(({ title }) => title)).toEqual(["Chat 1", "Chat 2", ...(era === "2026" ? ["Chat 5"] : [])]);
      const [first, second] = chats;
      expect([first?.pinned, second?.archived]).toEqual([1, 1]);
      const project = await api.db
        .selectFrom("projects")
        .where("id", "=", first?.projectId ?? "")
        .select("name")
        .executeTakeFirst();
      expect(project?.name).toBe("Obras / Tejado");
      const said = await api.db
        .selectFrom("messages")
        .where("chatId", "=", first?.id ?? "")
        .selectAll()
        .execute();
      expect(said.map(({ content }) => content).sort()).toEqual(["640 euros.", "No lo sé.", "¿Cuánto es la fianza?"]);
      expect(said.find(({ id }) => id === first?.leafId)?.content).toBe("640 euros.");
      expect(new Set(said.map(({ createdAt }) => createdAt))).toEqual(new Set([1_735_700_000_000]));
      const names = await api.db.selectFrom("attachments").select("name").orderBy("name").execute();
      expect(names.map(({ name }) => name)).toEqual(["acta.txt", "plano.png"]);
    });

    it("comes again without doubles", async () => {
      const count = async () =>
        Promise.all(
          (["users", "chats", "messages", "projects", "templates", "assistants", "members", "files"] as const).map(
            async (table) => (await api.db.selectFrom(table).select("id").execute()).length,
          ),
        );
      const before = await count();
      const moved = await move();
      expect([moved.people, moved.chats, moved.projects, moved.joined]).toEqual([0, 0, 0, 2]);
      expect(await count()).toEqual(before);
    });

    it("brings back a project deleted here, with its chats", async () => {
      const project = api.db.selectFrom("projects").where("name", "=", "Obras / Tejado").select("id");
      const { id } = await project.executeTakeFirstOrThrow();
      await api.db.deleteFrom("projects").where("id", "=", id).execute();
      expect(await move()).toMatchObject({ projects: 1, chats: 1 });
      const again = await project.executeTakeFirstOrThrow();
      const chat = api.db.selectFrom("chats").where("title", "=", "Chat 1").select("projectId");
      expect(await chat.executeTakeFirst()).toEqual({ projectId: again.id });
      expect(await move()).toMatchObject({ projects: 0, chats: 0 });
    });
  });
});

it("says of half a database that it is damaged", () => {
  const { database } = makeOpenWebUi(newFolder(), "2026");
  const bytes = readFileSync(database);
  writeFileSync(database, bytes.subarray(0, bytes.length / 2));
  expect(() => openWebUiHouse(database, undefined)).toThrow(/dañada, incompleta o cifrada/);
});

describe("a house of LibreChat", () => {
  const [ana, bea, publicAgent] = [new ObjectId(), new ObjectId(), new ObjectId()];
  const [first, second, third] = ["m-1", "m-2", "m-3"];
  const root = "00000000-0000-0000-0000-000000000000";
  const at = (minute: number) => new Date(Date.UTC(2025, 2, 3, 10, minute));
  const collections = {
    users: [
      { _id: ana, name: "Ana", email: "ana@casa.example", role: "ADMIN" },
      { _id: bea, name: "Bea", email: "bea@casa.example", role: "USER" },
    ],
    aclentries: [{ resourceId: publicAgent, principalType: "public" }],
    conversations: [
      { conversationId: "c-1", user: bea.toString(), title: "De Bea", createdAt: at(0) },
      { conversationId: "c-1", user: ana.toString(), title: "Fianzas", createdAt: at(0), isArchived: true },
      { conversationId: "c-2", user: ana.toString(), title: "Pasajero", createdAt: at(0), isTemporary: true },
    ],
    messages: [
      {
        messageId: "m-4",
        conversationId: "c-1",
        user: bea.toString(),
        parentMessageId: root,
        isCreatedByUser: true,
        text: "Lo de Bea",
        createdAt: at(1),
        files: ["..", "%2e%2e"].map((_, n) => ({ file_id: `f-${n + 2}`, filename: "secreto.txt" })),
      },
      {
        messageId: third,
        conversationId: "c-1",
        user: ana.toString(),
        parentMessageId: second,
        isCreatedByUser: true,
        text: "Gracias",
        createdAt: at(3),
      },
      {
        messageId: first,
        conversationId: "c-1",
        user: ana.toString(),
        parentMessageId: root,
        isCreatedByUser: true,
        text: "¿Cuánto es?",
        createdAt: at(1),
        files: [{ file_id: "f-1", filename: "acta.txt" }],
      },
      {
        messageId: second,
        conversationId: "c-1",
        user: ana.toString(),
        parentMessageId: first,
        isCreatedByUser: false,
        text: "",
        content: [
          null,
          { type: "think", think: "A ver" },
          { type: "text", text: { value: "640 euros\\ue202turn0search0." } },
        ],
        createdAt: at(2),
      },
    ],
    files: [
      { file_id: "f-1", user: ana, filename: "acta.txt", filepath: `/uploads/${ana}/f-1__acta.txt?manual=true` },
      ...["..", "%2e%2e"].map((up, n) => ({
        file_id: `f-${n + 2}`,
        user: bea,
        filename: "secreto.txt",
        filepath: `/uploads/${bea}/${up}/${up}/${up}/secreto.txt`,
      })),
    ],
    promptgroups: [
      { _id: new ObjectId(), name: "Carta", author: ana, productionId: new ObjectId("0123456789abcdef01234567") },
    ],
    prompts: [{ _id: new ObjectId("0123456789abcdef01234567"), prompt: "Escribe a {{quien:Ana|Bea}}" }],
    agents: [
      {
        _id: new ObjectId(),
        id: "agent_1",
        author: ana,
        name: "Cronista",
        instructions: "Redactas actas.",
        model: "gpt-4o",
        model_parameters: { temperature: 5 },
      },
      { _id: publicAgent, id: "agent_2", author: bea, name: "De todos", model: "gpt-4o" },
    ],
  };
  function dump(): { folder: string; uploads: string } {
    const folder = join(newFolder(), "LibreChat");
    const uploads = join(folder, "..", "uploads");
    mkdirSync(join(uploads, ana.toString()), { recursive: true });
    mkdirSync(folder);
    writeFileSync(join(folder, "..", "..", "secreto.txt"), "De otra carpeta.");
    writeFileSync(join(uploads, ana.toString(), "f-1__acta.txt"), "La fianza son 640 euros.");
    for (const [name, documents] of Object.entries(collections)) {
      writeFileSync(join(folder, `${name}.bson`), Buffer.concat(documents.map((one) => serialize(one))));
    }
    return { folder, uploads };
  }

  it("comes from a dump, and again without doubles", async () => {
    const api = await openApi(engines[0] ?? expect.fail());
    const { folder, uploads } = dump();
    const { db, files } = api.services;
    const move = () =>
      moveHouse({ db, files, folder: newFolder(), now: Date.now }, libreChatHouse(folder, uploads), false);
    await api.signUp("Primera");
    const before = await api.signUp("Ana");
    const email = "ana@casa.example";
    await db.updateTable("users").set({ email, emailKey: email }).where("id", "=", before.id).execute();
    expect(await move()).toMatchObject({
      ...{ people: 1, joined: 1, chats: 2, messages: 4, files: 1, templates: 1, assistants: 2 },
      lostFiles: ["secreto.txt", "secreto.txt"],
    });
    const people = await db.selectFrom("users").orderBy("name").select(["name", "role"]).execute();
    expect(people.slice(0, 2)).toEqual([
      { name: "Ana", role: "user" },
      { name: "Bea", role: "user" },
    ]);
    const chats = db.selectFrom("chats").where("userId", "=", before.id);
    const [chat, ...others] = await chats.selectAll().execute();
    expect([chat, others]).toMatchObject([{ title: "Fianzas", archived: 1, createdAt: at(0).getTime() }, []]);
    const messages = db.selectFrom("messages").where("userId", "=", before.id).orderBy("createdAt");
    const said = (await messages.select("content").execute()).map(({ content }) => content);
    expect(said).toEqual(["¿Cuánto es?", "640 euros.", "Gracias"]);
    const assistants = db.selectFrom("assistants").orderBy("name").select(["name", "shared", "temperature"]);
    expect(await assistants.execute()).toEqual([
      { name: "Cronista", shared: 0, temperature: null },
      { name: "De todos", shared: 1, temperature: null },
    ]);
    const [template] = await db.selectFrom("templates").select("content").execute();
    expect(template?.content).toBe("Escribe a {{quien}}");
    expect(await move()).toMatchObject({ people: 0, chats: 0, templates: 0, assistants: 0, known: 5 });
    await api.close();
  });

  it("names the damaged part of a truncated dump", () => {
    const { folder } = dump();
    const path = join(folder, "messages.bson");
    writeFileSync(path, readFileSync(path).subarray(0, 200));
    const house = () => libreChatHouse(folder, undefined);
    expect(house).toThrow(/messages\.bson está dañado o incompleto/);
  });
});
