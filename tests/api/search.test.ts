import { v7 as newId } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { messageRow } from "../../app/db/rows.server.ts";
import { excerptOf } from "../../app/db/search/excerpt.server.ts";
import { indexText } from "../../app/db/search/passages.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { queryEngines } from "../support/engines.ts";

type Found = {
  chats: { title: string }[];
  messages: { id: string; chatId: string; title: string; role: string; excerpt: { text: string; hit: boolean }[] }[];
};

describe.each(await queryEngines())("search on $name", (engine) => {
  let api: Api;
  let ana: Account;
  beforeAll(async () => {
    api = await openApi(engine);
    ana = await api.signUp();
    await api.converse(ana.token, { content: "Los gatos de mi abuela duermen en el tejado." });
    await api.converse(ana.token, { content: "¿Cuándo se poda un níspero japonés?" });
    await api.converse(ana.token, { content: "Encargué treinta carruajes." });
  });
  afterAll(() => api.close());

  const find = async (q: string, { token } = ana) =>
    (await api.call("GET", `/api/search?q=${encodeURIComponent(q)}`, { token })).body as Found;
  const marked = (found: Found) => found.messages[0]?.excerpt.filter(({ hit }) => hit).map(({ text }) => text);

  it.each([
    ["gato", ["gatos"]],
    ["GATOS tejado", ["gatos", "tejado"]],
    ["nispero", ["níspero"]],
    ["podar japones", ["poda", "japonés"]],
    ["teja", ["tejado"]],
    ["treinta", ["treinta"]],
    ["treinta carruajes", ["treinta", "carruajes"]],
  ])("finds «%s» ignoring case, accents and endings, and marks matches", async (q, words) => {
    expect(marked(await find(q))).toEqual(words);
  });

  it("finds a number word in the list of messages", async () => {
    const { body } = await api.call("GET", "/api/message?q=treinta%20carruajes", { token: ana.token });
    const { items } = body as { items: { role: string; content: string }[] };
    expect(items.filter(({ role }) => role === "user").map(({ content }) => content)).toEqual([
      "Encargué treinta carruajes.",
    ]);
  });

  it("requires all words and finds any part of a title", async () => {
    expect((await find("gatos níspero")).messages).toEqual([]);
    expect((await find("abuela")).chats).toMatchObject([{ title: expect.stringContaining("gatos de mi abuela") }]);
    expect((await find("uela du")).chats).toHaveLength(1);
  });

  it("finds nothing of another's, however it is asked", async () => {
    const bea = await api.signUp("Bea");
    const owner = `u${ana.id.replaceAll("-", "")}`;
    for (const q of ["gatos", owner, `gatos" OR "${owner}`, "gatos) | (níspero", "*", '"', "AND", "NEAR(gatos)"]) {
      const found = await find(q, bea);
      expect([q, found.chats, found.messages]).toEqual([q, [], []]);
    }
  });

  it("refuses nothing and too much by name", async () => {
    for (const q of ["", "%20%20", "x".repeat(201)]) {
      const answer = await api.call("GET", `/api/search?q=${q}`, { token: ana.token });
      expect(answer.body).toMatchObject({ status: 422, errors: { q: expect.anything() } });
    }
    expect((await api.call("GET", "/api/search?q=x")).status).toBe(401);
  });

  it("shows a long message once with a short excerpt", async () => {
    const content = `${"Relleno sin nada. ".repeat(120)}Aquí está el tornasol. ${"Más relleno. ".repeat(120)}tornasol`;
    await api.converse(ana.token, { content });
    const { messages } = await find("tornasol");
    const own = messages.filter(({ role }) => role === "user");
    expect(own).toHaveLength(1);
    expect(own[0]?.excerpt.map(({ text }) => text).join("").length).toBeLessThan(260);
  });

  it("shows excerpts of messages without Markdown's marks", async () => {
    await api.converse(ana.token, { content: "## Pliego\n\n- **Pértigas** sobre [la mesa](https://ejemplo.es/actas)" });
    const own = (await find("pértigas")).messages.find(({ role }) => role === "user");
    expect(own?.excerpt.map(({ text }) => text).join("")).toBe("Pliego Pértigas sobre la mesa");
    expect(own?.excerpt.filter(({ hit }) => hit).map(({ text }) => text)).toEqual(["Pértigas"]);
  });

  it("opens the page of a long chat around a message", async () => {
    const [started] = await api.converse(ana.token, { content: "El primero de muchos" });
    if (started?.type !== "start") throw new Error("a conversation begins with its start");
    const now = Date.now();
    let parentId: string = started.messageId;
    const ids: string[] = [];
    for (let count = 0; count < 160; count++) {
      const id = newId();
      await api.db
        .insertInto("messages")
        .values(
          messageRow(now + count, {
            id,
            chatId: started.chatId,
            userId: ana.id,
            parentId,
            role: count % 2 ? "assistant" : "user",
            content: `Mensaje ${count}`,
            finishedAt: now,
          }),
        )
        .execute();
      ids.push(id);
      parentId = id;
    }
    await indexText(api.db, "Un cenotafio en medio", ana.id, { messageId: ids[60] as string, chatId: started.chatId });
    await api.db.updateTable("chats").set({ leafId: parentId }).where("id", "=", started.chatId).execute();
    const { messages } = await find("cenotafio");
    expect(messages).toMatchObject([{ id: ids[60], chatId: started.chatId }]);
    const path = `/api/chat/${started.chatId}/messages`;
    const page = async (query: string) =>
      (await api.call("GET", `${path}?${query}`, { token: ana.token })).body as {
        items: { id: string }[];
        hasEarlier: boolean;
        hasLater: boolean;
      };
    const around = await page(`around=${ids[60]}`);
    expect(around.items.map(({ id }) => id)).toContain(ids[60]);
    expect(around.items.at(-1)?.id).toBe(ids[80]);
    expect(around).toMatchObject({ hasEarlier: true, hasLater: true });
    expect(await page(`around=${ids[159]}`)).toMatchObject({ hasLater: false });
    expect((await api.call("GET", `${path}?around=nada`, { token: ana.token })).status).toBe(404);
  });
});

describe("an excerpt", () => {
  it("marks each searched word and cuts at words", () => {
    expect(excerptOf("El gato y la gata de los gatos", "gato")).toEqual([
      { text: "El ", hit: false },
      { text: "gato", hit: true },
      { text: " y la ", hit: false },
      { text: "gata", hit: true },
      { text: " de los ", hit: false },
      { text: "gatos", hit: true },
    ]);
    const long = excerptOf(`${"palabra ".repeat(50)}aguja ${"palabra ".repeat(50)}`, "aguja");
    expect(long[0]).toEqual({ text: "…", hit: false });
    expect(long.at(-1)?.text).toMatch(/…$/);
    const unbroken = excerptOf(`${"x".repeat(300)}/aguja`, "aguja");
    expect(unbroken).toContainEqual({ text: "aguja", hit: true });
  });
});
