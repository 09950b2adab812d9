import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { withoutMarks } from "../../app/api/imports/formats/chatgpt-marks.server.ts";
import { readExport } from "../../app/api/imports/formats/read-export.server.ts";

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
  const [chat] = readExport({ conversationId: "c-1", title: "Fianza", ...exported(tree) }) ?? [];
  expect(chat?.messages.map(({ key, parent }) => [key, parent])).toEqual([
    ["a", null],
    ["c", "a"],
    ["b", "a"],
  ]);
  expect([chat?.leaf, chat?.at]).toEqual(["c", Date.parse("2025-03-03T10:01:00.000Z")]);
});

it("reads Open WebUI's lists of parts and what only the model's API says", () => {
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
  const [chat] =
    readExport([{ id: "c", title: "T", created_at: 1_735_700_000, chat: { history: { messages, currentId: "b" } } }]) ??
    [];
  expect(chat?.messages.map(({ content }) => content)).toEqual(["Hola", "Buenas"]);
  expect(chat?.messages[0]?.at).toBe(1_735_700_000_000);
});
