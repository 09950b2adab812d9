import { readFileSync } from "node:fs";
import { zipSync } from "fflate";
import sharp from "sharp";
import { v7 as newId } from "uuid";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { addChat } from "../../app/api/imports/add-chat.server.ts";
import { chatRow } from "../../app/db/rows.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";

const square = { width: 30, height: 30, channels: 3 as const, background: { r: 200, g: 0, b: 0 } };
const chatGpt = [
  {
    title: "Receta de gazpacho",
    create_time: 1700000000.5,
    conversation_id: "gpt-1",
    current_node: "c",
    mapping: {
      root: { id: "root", message: null, parent: null, children: ["s"] },
      s: {
        id: "s",
        parent: "root",
        message: { author: { role: "system" }, content: { content_type: "text", parts: [""] } },
      },
      a: {
        id: "a",
        parent: "s",
        message: {
          author: { role: "user" },
          create_time: 1700000001,
          content: { content_type: "text", parts: ["¿Lleva pan?"] },
        },
      },
      t: {
        id: "t",
        parent: "a",
        message: { author: { role: "tool" }, content: { content_type: "code", text: "buscar()" } },
      },
      b: {
        id: "b",
        parent: "t",
        message: { author: { role: "assistant" }, content: { content_type: "text", parts: ["Sí, duro."] } },
      },
      c: {
        id: "c",
        parent: "t",
        message: {
          author: { role: "assistant" },
          content: { content_type: "text", parts: ["A veces, para espesar."] },
        },
      },
    },
  },
];
const libreChat = {
  conversationId: "libre-1",
  title: "Viaje a Soria",
  messages: [
    {
      messageId: "m1",
      parentMessageId: "00000000-0000-0000-0000-000000000000",
      isCreatedByUser: true,
      text: "Tres días en Soria",
    },
    {
      messageId: "m2",
      parentMessageId: "m1",
      isCreatedByUser: false,
      content: [{ type: "text", text: "Empieza por la laguna." }],
    },
  ],
};

/** A message of LibreChat, of its person if it asks, at a minute of an hour. */
const turn = (messageId: string, parentMessageId: string | null, text: string, minute: number) => ({
  ...{ messageId, parentMessageId, text, isCreatedByUser: text.endsWith("?") },
  createdAt: new Date(Date.UTC(2026, 0, 1, 10, minute)).toISOString(),
});
const exportOf = (title: string, messages: object[]) => JSON.stringify({ conversationId: title, title, messages });

for (const engine of await ruleEngines()) {
  describe(`imports on ${engine.name}`, () => {
    let api: Api;
    let ana: Account;
    beforeAll(async () => {
      api = await openApi(engine);
      await api.signUp("Admin");
      ana = await api.signUp("Ana");
    });
    afterAll(() => api.close());

    const send = (content: string | Uint8Array<ArrayBuffer>, name = "export.json") =>
      api.upload(ana.token, [new File([content], name)], {}, "/api/chat/import");
    const listOf = async (query = "") =>
      (
        (await api.call("GET", `/api/chat${query}`, { token: ana.token })).body as {
          items: { id: string; title: string }[];
        }
      ).items;
    const list = async () => [
      ...(await listOf()),
      ...(await listOf(`?filter=${encodeURIComponent('{"archived":true}')}`)),
    ];
    const textsOf = async (title: string) => (await branch(title)).map(({ content }) => content);
    const branch = async (title: string) => {
      const chat = (await list()).find((item) => item.title === title);
      const answer = await api.call("GET", `/api/chat/${chat?.id}/messages`, { token: ana.token });
      return (answer.body as { items: { role: string; content: string; versions: string[]; createdAt: string }[] })
        .items;
    };

    it("brings what a later export of the same conversation has more", async () => {
      const messages = ["Siembro habas", "En octubre.", "¿Y riego?", "Poco.", "¿Y abono?", "En marzo."].map(
        (text, n) => ({
          messageId: `s${n}`,
          parentMessageId: n === 0 ? null : `s${n - 1}`,
          isCreatedByUser: n % 2 === 0,
          text,
        }),
      );
      const exported = (length: number) =>
        JSON.stringify({ conversationId: "crece", title: "Huerto", messages: messages.slice(0, length) });
      expect((await send(exported(2))).body).toMatchObject({ chats: 1, messages: 2, grown: 0 });
      expect((await send(exported(4))).body).toMatchObject({ chats: 0, messages: 2, known: 0, grown: 1 });
      expect(await textsOf("Huerto")).toEqual(messages.slice(0, 4).map(({ text }) => text));
      expect((await send(exported(4))).body).toMatchObject({ chats: 0, messages: 0, known: 1, grown: 0 });
      // A person who has gone on here stays there; the new messages are another branch.
      const chatId = (await list()).find(({ title }) => title === "Huerto")?.id ?? "";
      await api.converse(ana.token, { content: "¿Y a la sombra?", chatId });
      expect((await send(exported(6))).body).toMatchObject({ messages: 2, grown: 1 });
      expect(await textsOf("Huerto")).toContain("¿Y a la sombra?");
      expect(await textsOf("Huerto")).not.toContain("En marzo.");
      const found = await api.call("GET", "/api/search?q=abono", { token: ana.token });
      expect(JSON.stringify(found.body)).toContain("abono");
    });

    it("knows the answers of two models by their texts, although they came at the same second", async () => {
      const messages = [
        turn("a", null, "¿Qué siembro?", 0),
        turn("b", "a", "Habas.", 1),
        turn("c", "a", "Ajos.", 1),
        turn("d", "c", "¿Cuándo?", 2),
        turn("e", "d", "En noviembre.", 3),
      ];
      const exported = (length: number) => exportOf("Dos modelos", messages.slice(0, length));
      expect((await send(exported(3))).body).toMatchObject({ chats: 1, messages: 3 });
      expect((await send(exported(3))).body).toMatchObject({ known: 1, messages: 0 });
      expect((await send(exported(5))).body).toMatchObject({ grown: 1, messages: 2 });
      expect((await send(exported(5))).body).toMatchObject({ known: 1, messages: 0 });
      expect(await textsOf("Dos modelos")).toEqual(["¿Qué siembro?", "Ajos.", "¿Cuándo?", "En noviembre."]);
    });

    it("follows the second of two equal questions", async () => {
      const messages = [
        turn("a", null, "¿Empiezo?", 0),
        turn("b", "a", "Sí.", 1),
        turn("c", "b", "¿Sigue?", 2),
        turn("d", "c", "Primera vez.", 3),
        turn("e", "b", "¿Sigue?", 4),
        turn("f", "e", "Segunda vez.", 5),
        turn("g", "f", "¿Más?", 6),
        turn("h", "g", "Ya no.", 6),
      ];
      const exported = (length: number) => exportOf("Dos veces", messages.slice(0, length));
      expect((await send(exported(7))).body).toMatchObject({ chats: 1, messages: 7 });
      expect((await send(exported(8))).body).toMatchObject({ grown: 1, messages: 1 });
      expect((await textsOf("Dos veces")).slice(-3)).toEqual(["Segunda vez.", "¿Más?", "Ya no."]);
      // A text that has changed here since is known by its key.
      await api.db.updateTable("messages").set({ content: "Otro texto." }).where("content", "=", "Ya no.").execute();
      expect((await send(exported(8))).body).toMatchObject({ known: 1, messages: 0 });
    });

    it("does not bring back what its person has deleted here", async () => {
      const texts = ["¿Uno?", "Primero.", "¿Dos?", "Segundo."];
      const exported = exportOf(
        "Con secreto",
        texts.map((text, n) => turn(`t${n}`, n === 0 ? null : `t${n - 1}`, text, n)),
      );
      expect((await send(exported)).body).toMatchObject({ chats: 1, messages: 4 });
      const { id } = (await list()).find(({ title }) => title === "Con secreto") ?? { id: "" };
      await api.db.deleteFrom("messages").where("chatId", "=", id).where("content", "=", "Primero.").execute();
      expect((await send(exported)).body).toMatchObject({ known: 1, messages: 0 });
    });

    it("takes a growth back whose file can't be stored", async () => {
      const of = (key: string, parent: string | null, files: object[] = []) => ({
        ...{ key, parent, role: parent ? "assistant" : "user", content: key, at: parent ? 2 : 1, files, passages: [] },
      });
      const chat = (...messages: object[]) =>
        ({ key: "rota", title: "Rota", at: 1, leaf: messages.length > 1 ? "b" : "a", messages, left: [] }) as never;
      const file = { kind: "file", name: "a.txt", path: "/nada", size: 1 };
      const take = vi.spyOn(api.services.files, "take").mockRejectedValue(new Error("the disk is gone"));
      expect(await addChat(api.services, ana.id, chat(of("a", null)))).toMatchObject({ messages: 1 });
      await expect(addChat(api.services, ana.id, chat(of("a", null), of("b", "a", [file])))).rejects.toThrow("disk");
      take.mockRestore();
      expect(await textsOf("Rota")).toEqual(["a"]);
      expect(await addChat(api.services, ana.id, chat(of("a", null), of("b", "a")))).toMatchObject({ isGrown: true });
      expect(await textsOf("Rota")).toEqual(["a", "b"]);
    });

    it("refuses several files at once, and says what to do", async () => {
      const one = new File([JSON.stringify(libreChat)], "a.json");
      const answer = await api.upload(ana.token, [one, one], {}, "/api/chat/import");
      expect([answer.status, answer.text]).toEqual([422, expect.stringContaining("en un ZIP")]);
    });

    it("names a damaged conversation file and imports the others", async () => {
      const one = { id: "otra", title: "Entera", messages: [{ id: "m", role: "user", content: "Hola" }] };
      const zip = zipSync({
        "conversations-000.json": new TextEncoder().encode(JSON.stringify([one])),
        "conversations-001.json": new TextEncoder().encode('[{"id": "cort'),
      });
      const brought = (await send(new Uint8Array(zip), "chatgpt.zip")).body;
      expect(brought).toMatchObject({ chats: 1, left: ["1 archivo: conversations-001.json"] });
    });

    it("imports ChatGPT's conversations from its ZIP with versions and dates", async () => {
      const zip = zipSync({
        "conversations.json": new TextEncoder().encode(JSON.stringify(chatGpt)),
        "foto.png": new Uint8Array(9),
      });
      expect((await send(new Uint8Array(zip), "chatgpt.zip")).body).toMatchObject({
        chats: 1,
        messages: 3,
        files: 0,
        known: 0,
        left: [],
      });
      const items = await branch("Receta de gazpacho");
      expect(items.map(({ role, content, versions }) => [role, content, versions.length])).toEqual([
        ["user", "¿Lleva pan?", 1],
        ["assistant", "A veces, para espesar.", 2],
      ]);
      expect(items[0]?.createdAt).toBe("2023-11-14T22:13:21.000Z");
      const found = await api.call("GET", "/api/search?q=espesar", { token: ana.token });
      expect((found.body as { messages: object[] }).messages).toHaveLength(1);
    });

    it("imports ChatGPT's speech and canvas text, without hidden messages", async () => {
      const said = (id: string, parent: string, message: object) => [id, { id, parent, message }];
      const chat = {
        title: "Con de todo",
        conversation_id: "gpt-2",
        is_archived: true,
        current_node: "g",
        mapping: Object.fromEntries([
          said("a", "", {
            author: { role: "user" },
            metadata: { attachments: [{ name: "acta.pdf" }] },
            content: {
              content_type: "multimodal_text",
              parts: [
                { content_type: "audio_transcription", text: "Dicho de viva voz" },
                { content_type: "image_asset_pointer" },
              ],
            },
          }),
          said("b", "a", {
            author: { role: "user" },
            metadata: { is_visually_hidden_from_conversation: true },
            content: { content_type: "text", parts: ["Instrucciones ocultas"] },
          }),
          said("c", "b", {
            author: { role: "assistant" },
            recipient: "web",
            content: { content_type: "text", parts: ["buscar(pan)"] },
          }),
          said("d", "c", {
            author: { role: "assistant" },
            recipient: "canmore.create_textdoc",
            content: { content_type: "code", text: JSON.stringify({ name: "Carta", content: "Querida Ana:" }) },
          }),
          said("g", "d", {
            author: { role: "assistant" },
            content: { content_type: "text", parts: ["Lleva pan\uE200cite\uE202turn0search1\uE201."] },
          }),
        ]),
      };
      const sent = (await send(JSON.stringify([chat]))).body;
      expect(sent).toMatchObject({
        chats: 1,
        messages: 3,
        files: 0,
        known: 0,
        left: ["1 imagen", "1 archivo: acta.pdf"],
      });
      const archived = await api.call("GET", `/api/chat?filter=${encodeURIComponent('{"archived":true}')}`, {
        token: ana.token,
      });
      expect((archived.body as { items: object[] }).items).toEqual([expect.objectContaining({ title: "Con de todo" })]);
      expect(await textsOf("Con de todo")).toEqual(["Dicho de viva voz", "**Carta**\n\nQuerida Ana:", "Lleva pan."]);
    });

    it("imports Claude's old and new formats, with attachment text", async () => {
      const message = (uuid: string, sender: string, text: string, more: object = {}) => ({
        uuid,
        sender,
        text: "",
        content: [
          { type: "thinking", thinking: "mmm" },
          { type: "text", text },
        ],
        created_at: "2026-01-02T10:00:00Z",
        ...more,
      });
      const files = {
        files: [{ file_name: "foto.png" }],
        attachments: [{ file_name: "a.txt", extracted_content: "Lo de dentro" }],
      };
      const old = {
        uuid: "c1",
        name: "De Claude",
        created_at: "2026-01-02T10:00:00Z",
        chat_messages: [message("1", "human", "Hola", files), message("2", "assistant", "Buenas")],
      };
      const zip = zipSync({ "conversations.json": new TextEncoder().encode(JSON.stringify([old])) });
      expect((await send(new Uint8Array(zip), "claude.zip")).body).toMatchObject({
        chats: 1,
        messages: 2,
        files: 0,
        known: 0,
        left: ["1 imagen: foto.png"],
      });
      expect(await textsOf("De Claude")).toEqual(["Hola\n\n**a.txt**\n\nLo de dentro", "Buenas"]);
      const parent = (of: string) => ({ parent_message_uuid: of });
      const branched = {
        uuid: "c2",
        name: "Con ramas",
        chat_messages: [
          message("1", "human", "Hola", parent("00000000-0000-4000-8000-000000000000")),
          message("2", "assistant", "Una", parent("1")),
          message("3", "assistant", "Otra", parent("1")),
        ],
      };
      expect((await send(JSON.stringify([branched]))).body).toMatchObject({ chats: 1, messages: 3 });
      expect(await textsOf("Con ramas")).toEqual(["Hola", "Otra"]);
      const leaf = { ...branched, uuid: "c3", name: "Con hoja", current_leaf_message_uuid: "2" };
      await send(JSON.stringify([leaf]));
      expect(await textsOf("Con hoja")).toEqual(["Hola", "Una"]);
    });

    it("imports Open WebUI's conversations without their reasoning", async () => {
      const thought = '<details type="reasoning" done="true">\n<summary>Thought</summary>\nmmm\n</details>\n';
      const chat = {
        id: "w1",
        title: "De Open WebUI",
        archived: false,
        created_at: 1767348000,
        chat: {
          history: {
            currentId: "2",
            messages: {
              1: {
                id: "1",
                parentId: null,
                role: "user",
                content: "¿Qué tal?",
                timestamp: 1767348000,
                files: [{ type: "file", name: "x.pdf" }],
              },
              2: { id: "2", parentId: "1", role: "assistant", content: `${thought}Bien.`, timestamp: 1767348001 },
            },
          },
        },
      };
      expect((await send(JSON.stringify([chat]))).body).toMatchObject({
        chats: 1,
        messages: 2,
        files: 0,
        known: 0,
        left: ["1 archivo: x.pdf"],
      });
      expect(await textsOf("De Open WebUI")).toEqual(["¿Qué tal?", "Bien."]);
    });

    it("brings in LibreChat's, and nothing twice", async () => {
      expect((await send(JSON.stringify(libreChat))).body).toMatchObject({ chats: 1, messages: 2 });
      expect((await branch("Viaje a Soria")).map(({ content }) => content)).toEqual([
        "Tres días en Soria",
        "Empieza por la laguna.",
      ]);
      expect((await send(JSON.stringify([libreChat, ...chatGpt]))).body).toMatchObject({
        chats: 0,
        messages: 0,
        files: 0,
        known: 2,
        left: [],
      });
    });

    it("imports one Tertulia chat or a person's whole ZIP", async () => {
      const berta = await api.signUp("Berta");
      const [start] = await api.converse(berta.token, { content: "Lo que llevo conmigo" });
      const chatId = start?.type === "start" ? start.chatId : "";
      const file = await (await api.fetch(`/api/chat/${chatId}/export?format=json`, berta.token)).text();
      expect((await send(file)).body).toMatchObject({ chats: 1, messages: 2 });
      const zip = await (await api.fetch(`/api/user/${berta.id}/export`, berta.token)).arrayBuffer();
      expect((await send(new Uint8Array(zip), "datos.zip")).body).toMatchObject({ chats: 0, known: 1 });
      expect((await branch("Lo que llevo conmigo"))[0]?.content).toBe("Lo que llevo conmigo");
    });

    it("imports the pictures and reports that assistants have made", async () => {
      const picture = new Uint8Array(await sharp({ create: square }).png().toBuffer());
      const drawn = (id: string) => ({
        author: { role: "tool", name: "t2uay3k.sj1i4kz" },
        content: {
          content_type: "multimodal_text",
          parts: [
            "GPT-4o returned 1 images.",
            { content_type: "image_asset_pointer", asset_pointer: `sediment://${id}` },
          ],
        },
      });
      const report = { report_message: { content: { content_type: "text", parts: ["# Informe\n\nLlueve poco."] } } };
      const researched = {
        author: { role: "tool" },
        content: { content_type: "text", parts: ["The latest state of the widget is"] },
        metadata: { chatgpt_sdk: { widget_state: JSON.stringify(report) } },
      };
      const asked = { author: { role: "user" }, content: { content_type: "text", parts: ["Dibuja y averigua"] } };
      const nodes = [asked, drawn("file_000gato"), drawn("file_000falta"), researched];
      const mapping = Object.fromEntries(
        nodes.map((message, n) => [`n${n}`, { id: `n${n}`, parent: n === 0 ? "" : `n${n - 1}`, message }]),
      );
      const gpt = { title: "Dibujado", conversation_id: "gpt-drawn", current_node: "n3", mapping };
      const zip = zipSync({
        "conversations-000.json": new TextEncoder().encode(JSON.stringify([gpt])),
        "file_000gato-sanitized.png": picture,
      });
      expect((await send(new Uint8Array(zip), "gpt.zip")).body).toMatchObject({ messages: 4, left: ["1 imagen"] });
      expect(await textsOf("Dibujado")).toEqual([
        ...["Dibuja y averigua", "", "*(Una imagen que la exportación no trae.)*", "# Informe\n\nLlueve poco."],
      ]);
      const url = `data:image/png;base64,${Buffer.from(picture).toString("base64")}`;
      const nested = '<details type="reasoning" done="true">\n> <details>mucho</details>\nmás\n</details>\n';
      const history = {
        currentId: "b",
        messages: {
          a: { id: "a", role: "user", content: "Dibuja" },
          b: { id: "b", parentId: "a", role: "assistant", content: "", files: [{ type: "image", url }] },
          c: { id: "c", parentId: "a", role: "assistant", content: `${nested}Hecho.` },
        },
      };
      const chat = { id: "web-drawn", title: "Dibujado en la web", chat: { history } };
      expect((await send(JSON.stringify([chat]))).body).toMatchObject({ messages: 3, left: [] });
      for (const title of ["Dibujado", "Dibujado en la web"]) {
        const [, reply] = (await branch(title)) as unknown as { parts: { kind: string }[] }[];
        expect(reply?.parts.map(({ kind }) => kind)).toEqual(["image"]);
      }
      const rows = await api.db.selectFrom("messages").where("content", "=", "Hecho.").select("id").execute();
      expect(rows.length).toBe(1);
    });

    it("imports files contained in an export and names missing ones", async () => {
      const picture = new Uint8Array(await sharp({ create: square }).png().toBuffer());
      const report = new Uint8Array(readFileSync("tests/documents/informe.pdf"));
      const carla = await api.signUp("Carla");
      const bring = async (content: Uint8Array<ArrayBuffer> | string, name = "export.json") =>
        (await api.upload(carla.token, [new File([content], name)], {}, "/api/chat/import")).body;
      const message = {
        author: { role: "user" },
        metadata: {
          attachments: [
            { id: "file-Doc1", name: "informe.pdf" },
            { id: "file-Lost", name: "perdido.pdf" },
            { id: "file-Bad", name: "malo.pdf" },
          ],
        },
        content: {
          content_type: "multimodal_text",
          parts: [{ content_type: "image_asset_pointer", asset_pointer: "sediment://file_000abc" }],
        },
      };
      const chat = {
        title: "Solo archivos",
        conversation_id: "gpt-files",
        current_node: "a",
        mapping: { a: { id: "a", parent: "", message } },
      };
      const zip = zipSync({
        "conversations.json": new TextEncoder().encode(JSON.stringify([chat])),
        "file-Doc1-informe.pdf": report,
        "file-Doc12-otro.pdf": report,
        "file-Bad-malo.pdf": new Uint8Array(9),
        "user-x/file_000abc-dibujo.png": picture,
      });
      expect(await bring(new Uint8Array(zip), "chatgpt.zip")).toMatchObject({
        chats: 1,
        messages: 1,
        files: 2,
        known: 0,
        left: ["2 archivos: perdido.pdf, malo.pdf"],
      });
      const url = `data:image/png;base64,${Buffer.from(picture).toString("base64")}`;
      const history = {
        currentId: "a",
        messages: { a: { id: "a", role: "user", content: "Mira", files: [{ type: "image", url }] } },
      };
      expect(await bring(JSON.stringify([{ id: "web-1", title: "De la web", chat: { history } }]))).toMatchObject({
        chats: 1,
        files: 1,
      });
      const attached = async (token: string, title: string) => {
        const { items } = (await api.call("GET", "/api/chat", { token })).body as {
          items: { id: string; title: string }[];
        };
        const id = items.find((item) => item.title === title)?.id;
        const answer = await api.call("GET", `/api/chat/${id}/messages`, { token });
        const [first] = (answer.body as { items: { attachments: { name: string }[] }[] }).items;
        return first?.attachments.map(({ name }) => name);
      };
      const both = ["informe.pdf", "file_000abc-dibujo.png"];
      expect(await attached(carla.token, "Solo archivos")).toEqual(both);
      expect(await attached(carla.token, "De la web")).toEqual(["imagen.png"]);
      // And from here to another account of Tertulia.
      const data = await (await api.fetch(`/api/user/${carla.id}/export`, carla.token)).arrayBuffer();
      const dora = await api.signUp("Dora");
      const moved = await api.upload(dora.token, [new File([data], "datos.zip")], {}, "/api/chat/import");
      expect(moved.body).toMatchObject({ chats: 2, files: 3, left: [] });
      expect(await attached(dora.token, "Solo archivos")).toEqual(both);
      const listed = async () =>
        ((await api.call("GET", "/api/file", { token: dora.token })).body as { items: { state: string }[] }).items;
      await vi.waitFor(
        async () => expect((await listed()).map(({ state }) => state)).toEqual(["ready", "ready", "ready"]),
        { timeout: 20_000 },
      );
    });

    it("resumes an interrupted import without half chats or duplicates", async () => {
      const eva = await api.signUp("Eva");
      const { jobs, storage } = api.services;
      const row = { ...chatRow(Date.now(), { userId: eva.id, title: "A medias" }) };
      await api.db.insertInto("chats").values(row).execute();
      const id = newId();
      await storage.put(id, "original", Buffer.from(JSON.stringify(chatGpt)));
      await jobs.add({ id, kind: "import", userId: eva.id, data: JSON.stringify({ chatId: row.id }) });
      jobs.wake("import");
      const job = await jobs.ended(id, 20_000);
      expect([job?.state, JSON.parse(job?.result ?? "")]).toEqual(["done", expect.objectContaining({ chats: 1 })]);
      const kept = await api.call("GET", "/api/chat", { token: eva.token });
      expect((kept.body as { items: { title: string }[] }).items.map(({ title }) => title)).toEqual([
        "Receta de gazpacho",
      ]);
      // The archive is not kept any longer than it is needed.
      expect(await storage.read(id, "original")).toBeUndefined();
    });

    it.each([
      ["no JSON", "hola", /no es un JSON válido/],
      ["another JSON", '{"a":1}', /no es una exportación/],
      ["an empty list", "[]", /no es una exportación/],
      [
        "circles",
        JSON.stringify({ title: "x", messages: [{ id: "a", parentId: "a", role: "user", content: "x" }] }),
        /no tiene conversaciones/,
      ],
      ["half an archive", "PK\x03\x04roto", /no es una exportación/],
    ])("refuses %s with a sentence", async (_, content, reason) => {
      const answer = await send(content);
      expect([answer.status, answer.text]).toEqual([422, expect.stringMatching(reason)]);
    });
  });
}
