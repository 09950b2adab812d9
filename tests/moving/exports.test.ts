import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { withoutMarks } from "../../app/api/imports/formats/chatgpt-marks.server.ts";
import { readExport } from "../../app/api/imports/formats/read-export.server.ts";
import { readAccount } from "../../app/api/imports/formats/tertulia-account.server.ts";
import { withoutMarks as oneLine } from "../../app/process/text/without-marks.ts";

const cases = JSON.parse(readFileSync(new URL("chatgpt-marks.json", import.meta.url), "utf8")) as [string, string][];

it.each(cases)("leaves names and links of ChatGPT's marks: %s", (said, shown) => {
  expect(withoutMarks(said)).toBe(shown);
});

const root = "00000000-0000-0000-0000-000000000000";
const message = (messageId: string, parentMessageId: string, text: string, minute: number, children?: object[]) => ({
  ...{
    messageId,
    parentMessageId,
    text,
    isCreatedByUser: text.endsWith("?"),
    createdAt: `2025-03-03T10:0${minute}:00.000Z`,
  },
  ...(children && { children }),
});

it.each([
  ["messagesTree", (tree: object[]) => ({ messagesTree: tree })],
  ["messages with children", (tree: object[]) => ({ messages: tree })],
])("reads LibreChat's %s, with the branch that was written last", (_, exported) => {
  const tree = [message("a", root, "¿Cuánto?", 1, [message("c", "a", "640", 3), message("b", "a", "No sé", 2)])];
  const [chat] = readExport({ conversationId: "c-1", title: "Fianza", ...exported(tree) })?.chats ?? [];
  expect(chat?.messages.map(({ key, parent }) => [key, parent])).toEqual([
    ["a", null],
    ["c", "a"],
    ["b", "a"],
  ]);
  expect([chat?.leaf, chat?.at]).toEqual(["c", Date.parse("2025-03-03T10:01:00.000Z")]);
});

it("reads DeepSeek's words without its thoughts and searches", () => {
  const node = (id: string, parent: string | null, message: object | null) => ({ id, parent, children: [], message });
  const said = (type: string, content: string) => ({ type, content });
  const written = (fragments: object[], minute: number) => ({
    files: [],
    model: "deepseek-reasoner",
    inserted_at: `2025-03-03T10:0${minute}:00.123000+08:00`,
    fragments,
  });
  const mapping = {
    root: node("root", null, null),
    1: node("1", "root", written([said("REQUEST", "¿Cuánto?")], 1)),
    2: node("2", "1", written([said("THINK", "Cuento."), { type: "SEARCH", results: [] }, said("RESPONSE", "640")], 2)),
  };
  const chat = { id: "d", title: "Fianza", inserted_at: "2025-03-03T10:00:00.000000+08:00", mapping };
  const [read] = readExport([chat])?.chats ?? [];
  expect(read?.messages.map(({ role, content }) => [role, content])).toEqual([
    ["user", "¿Cuánto?"],
    ["assistant", "640"],
  ]);
  expect([read?.leaf, read?.at]).toEqual(["2", Date.parse("2025-03-03T02:00:00.000Z")]);
});

it("reads Open WebUI messages in parts and in API output", () => {
  const messages = {
    a: {
      id: "a",
      parentId: null,
      role: "user",
      content: [{ type: "text", text: "Hola" }],
      timestamp: 1_735_700_000_000,
    },
    b: {
      id: "b",
      parentId: "a",
      role: "assistant",
      content: null,
      output: [{ type: "message", content: [{ type: "output_text", text: "Buenas" }] }],
    },
  };
  const item = { id: "c", title: "T", created_at: 1_735_700_000, chat: { history: { messages, currentId: "b" } } };
  const [chat] = readExport([item])?.chats ?? [];
  expect(chat?.messages.map(({ content }) => content)).toEqual(["Hola", "Buenas"]);
  expect(chat?.messages[0]?.at).toBe(1_735_700_000_000);
});

it("reads replies of Open WebUI that have lost their role or their parent", () => {
  const messages = {
    u1: { id: "u1", parentId: null, childrenIds: ["a1"], role: "user", content: "p1" },
    a1: { id: "a1", childrenIds: ["u2"], role: "assistant", content: "r1" },
    u2: { id: "u2", parentId: "a1", childrenIds: ["a2"], role: "user", content: "p2" },
    a2: { id: "a2", content: "r2", done: true, model: "gpt" },
  };
  const item = { id: "c", title: "T", chat: { history: { messages, currentId: "a2" } } };
  const [chat] = readExport([item])?.chats ?? [];
  expect(chat?.messages.map(({ key, parent, role }) => [key, parent, role])).toEqual([
    ["u1", null, "user"],
    ["a1", "u1", "assistant"],
    ["u2", "a1", "user"],
    ["a2", "u2", "assistant"],
  ]);
});

it("gives a chat without a title its first words, whole letters only", () => {
  const message = { author: { role: "user" }, content: { content_type: "text", parts: [`${"x".repeat(59)}😀 fin`] } };
  const mapping = { r: { id: "r", children: ["a"], message: null }, a: { id: "a", message } };
  const [chat] = readExport([{ id: "c", title: null, mapping }])?.chats ?? [];
  expect(chat?.title).toBe("x".repeat(59));
  expect(chat?.messages).toHaveLength(1);
});

it.each([
  ["getUserById(user_id) da *algo* y **otro**.", "getUserById(user_id) da algo y otro."],
  ["x**2 y 5 * 3 = 15 en ~/bin", "x**2 y 5 * 3 = 15 en ~/bin"],
  ["https://x.es/a_b_c y arr[0]", "https://x.es/a_b_c y arr[0]"],
  ["_Hola_, **Ana**: `a` y ~~b~~ [1]", "Hola, Ana: a y b"],
])("shows %j as one plain line", (said, shown) => {
  expect(oneLine(said)).toBe(shown);
});

// Looked at again from each of its signs, each of these takes minutes.
it.each([
  ["blanks", `a${" ".repeat(300_000)}b`],
  ["fences without an end", "```js\n".repeat(60_000)],
  ["pictures without an end", "![".repeat(150_000)],
])("takes the marks off a text of many %s", (_, said) => {
  expect(withoutMarks(said)).toBe(said.trimEnd());
});

it("takes off thoughts of Open WebUI, of which none ends", () => {
  const content = '<details type="reasoning">'.repeat(15_000);
  const messages = [{ id: "a", parentId: null, role: "assistant", content }];
  const [chat] = readExport({ id: "c", title: "T", chat: { messages } })?.chats ?? [];
  expect(chat?.messages[0]?.content).toBe(content);
});

it.each<[string, (said: object[]) => object]>([
  ["a list without ids", (messages) => ({ id: "1", chat: { title: "A", messages } })],
  ["a history whose messages have ids as keys alone", (said) => ({ chat: { title: "A", history: historyOf(said) } })],
  ["the conversation without its row", (said) => ({ title: "A", history: historyOf(said), messages: [] })],
  ["LibreChat's list without ids", (said) => ({ conversationId: "c", title: "A", messages: said })],
  [
    "a mapping of ChatGPT's without ids inside",
    (said) => ({
      title: "A",
      mapping: Object.fromEntries(
        said.map((one, n) => {
          const { role, text } = one as { role: string; text: string };
          const content = { content_type: "text", parts: [text] };
          return [`n${n}`, { parent: n ? `n${n - 1}` : null, message: { author: { role }, content } }];
        }),
      ),
    }),
  ],
])("keeps each message of %s, in order", (_what, exported) => {
  const said = ["¿Uno?", "Dos", "¿Tres?", "Cuatro"].map((text, n) => {
    const role = n % 2 === 0 ? "user" : "assistant";
    return { role, content: text, text, sender: role, isCreatedByUser: role === "user" };
  });
  const [chat] = readExport(exported(said))?.chats ?? [];
  expect(chat?.messages.map(({ content }) => content)).toEqual(["¿Uno?", "Dos", "¿Tres?", "Cuatro"]);
  expect(chat?.messages.slice(1).map(({ parent }) => parent)).toEqual(
    chat?.messages.slice(0, -1).map(({ key }) => key),
  );
});

function historyOf(said: object[]): object {
  return { messages: Object.fromEntries(said.map((one, n) => [`m${n}`, one])) };
}

it("keeps the documents that Claude has written beside its answers", () => {
  const call = (name: string, input: object) => ({ type: "tool_use", name, input });
  const content = [
    { type: "text", text: "Aquí está:" },
    call("artifacts", { title: "Carta", type: "text/markdown", content: "Querida Ana" }),
    call("create_file", { path: "/tmp/suma.py", file_text: "print(1)" }),
    call("web_search", { query: "nada" }),
  ];
  const [chat] =
    readExport({ uuid: "b", name: "B", chat_messages: [{ uuid: "m", sender: "assistant", content }] })?.chats ?? [];
  expect(chat?.messages[0]?.content).toBe("Aquí está:\n\n**Carta**\n\nQuerida Ana\n\n**suma.py**\n\nprint(1)");
});

it("reads other conversations beside one in an unknown format", () => {
  const good = { uuid: "b", name: "Buena", chat_messages: [{ uuid: "m", sender: "human", text: "Hola" }] };
  const broken = {
    ...good,
    get uuid(): never {
      throw new Error("odd");
    },
  };
  expect(readExport([broken, good])).toMatchObject({ unread: 1, chats: [{ title: "Buena" }] });
});

it("replaces a mark with a malformed name by its text", () => {
  expect(withoutMarks('Ve a entity["lugar",{"toString":0}] hoy')).toBe("Ve a lugar hoy");
});

it("leaves out account rows that cannot be stored", () => {
  const zoned = (id: string, zone: string) => ({
    ...{ id, content: "¿Qué hay?", days: "[1]", monthDay: null, time: "08:00", zone, tells: 0, enabled: 1 },
  });
  const account = readAccount({
    user: {},
    projects: [{ id: "p", name: "Obras\0", description: "", instructions: "" }],
    schedules: [zoned("s", "Europe/Madrid"), zoned("t", "Marte/Olimpo"), { ...zoned("u", "UTC"), days: "[]" }],
  });
  expect(account?.projects.map(({ name }) => name)).toEqual(["Obras"]);
  expect(account?.schedules.map(({ id }) => id)).toEqual(["s"]);
});
