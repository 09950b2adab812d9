import { zipSync } from "fflate";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { findEngines } from "../support/engines.ts";

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

const engines = await findEngines();
for (const engine of engines) {
  describe(`imports on ${engine.name}`, () => {
    let api: Api;
    let ana: Account;
    beforeAll(async () => {
      api = await openApi(engine);
      ana = await api.signUp("Ana");
    });
    afterAll(() => api.close());

    const send = (content: string | Uint8Array<ArrayBuffer>, name = "export.json") =>
      api.upload(ana.token, [new File([content], name)], {}, "/api/chat/import");
    const list = async () =>
      ((await api.call("GET", "/api/chat", { token: ana.token })).body as { items: { id: string; title: string }[] })
        .items;
    const branch = async (title: string) => {
      const chat = (await list()).find((item) => item.title === title);
      const answer = await api.call("GET", `/api/chat/${chat?.id}/messages`, { token: ana.token });
      return (answer.body as { items: { role: string; content: string; versions: string[]; createdAt: string }[] })
        .items;
    };

    it("brings in ChatGPT's conversations, also from its ZIP, with their versions and dates", async () => {
      const zip = zipSync({
        "conversations.json": new TextEncoder().encode(JSON.stringify(chatGpt)),
        "foto.png": new Uint8Array(9),
      });
      expect((await send(new Uint8Array(zip), "chatgpt.zip")).body).toEqual({ chats: 1, messages: 3, known: 0 });
      const items = await branch("Receta de gazpacho");
      expect(items.map(({ role, content, versions }) => [role, content, versions.length])).toEqual([
        ["user", "¿Lleva pan?", 1],
        ["assistant", "A veces, para espesar.", 2],
      ]);
      expect(items[0]?.createdAt).toBe("2023-11-14T22:13:21.000Z");
      const found = await api.call("GET", "/api/search?q=espesar", { token: ana.token });
      expect((found.body as { messages: object[] }).messages).toHaveLength(1);
    });

    it("brings in LibreChat's, and nothing twice", async () => {
      expect((await send(JSON.stringify(libreChat))).body).toMatchObject({ chats: 1, messages: 2 });
      expect((await branch("Viaje a Soria")).map(({ content }) => content)).toEqual([
        "Tres días en Soria",
        "Empieza por la laguna.",
      ]);
      expect((await send(JSON.stringify([libreChat, ...chatGpt]))).body).toEqual({ chats: 0, messages: 0, known: 2 });
    });

    it("brings in Tertulia's own, one chat or the whole ZIP of somebody's data", async () => {
      const berta = await api.signUp("Berta");
      const [start] = await api.converse(berta.token, { content: "Lo que llevo conmigo" });
      const chatId = start?.type === "start" ? start.chatId : "";
      const file = await (await api.fetch(`/api/chat/${chatId}/export?format=json`, berta.token)).text();
      expect((await send(file)).body).toMatchObject({ chats: 1, messages: 2 });
      const zip = await (await api.fetch(`/api/user/${berta.id}/export`, berta.token)).arrayBuffer();
      expect((await send(new Uint8Array(zip), "datos.zip")).body).toMatchObject({ chats: 0, known: 1 });
      expect((await branch("Lo que llevo conmigo"))[0]?.content).toBe("Lo que llevo conmigo");
    });

    it.skipIf(engine !== engines[0])(
      "does not fall over an archive that grows beyond all memory, nor wait for it with everybody",
      async () => {
        const endless = new TextEncoder().encode(`[${"{},".repeat(15_000_000)}{}]`);
        const answer = await send(new Uint8Array(zipSync({ "a.json": endless })), "bomba.zip");
        expect([answer.status, answer.text]).toEqual([422, expect.stringContaining("demasiado grande")]);
      },
    );

    it.each([
      ["no JSON", "hola", /no es una exportación/],
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
