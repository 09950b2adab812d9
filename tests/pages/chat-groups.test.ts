import { expect, it } from "vitest";
import { groupChats } from "../../app/routes/shell/chat-groups.server.ts";

const chat = (title: string, lastMessageAt: string, pinned = false) => ({ id: title, title, pinned, lastMessageAt });
const shown = (zone: string) =>
  groupChats(
    [
      chat("fijada", "2026-11-25T02:00:00Z", true),
      chat("de anoche", "2026-11-25T01:00:00Z"),
      chat("de la mañana", "2026-11-24T07:00:00Z"),
      chat("de la víspera", "2026-11-24T04:00:00Z"),
      chat("del lunes", "2026-11-19T12:00:00Z"),
      chat("de otro mes", "2026-10-30T12:00:00Z"),
      chat("vieja", "2025-01-01T00:00:00Z"),
    ],
    Date.parse("2026-11-25T03:00:00.250Z"),
    zone,
  ).map(([name, chats]) => `${name}: ${chats.map(({ title }) => title).join(", ")}`);

it("groups conversations by day in the reader's time zone", () => {
  expect(shown("UTC")).toEqual([
    "Fijados: fijada",
    "Hoy: de anoche",
    "Ayer: de la mañana, de la víspera",
    "Esta semana: del lunes",
    "Este mes: de otro mes",
    "Antes: vieja",
  ]);
  // It is the evening of the 24th there.
  expect(shown("America/Mexico_City").slice(0, 3)).toEqual([
    "Fijados: fijada",
    "Hoy: de anoche, de la mañana",
    "Ayer: de la víspera",
  ]);
  // And already noon of the 25th, there.
  expect(shown("Asia/Tokyo").slice(0, 3)).toEqual([
    "Fijados: fijada",
    "Hoy: de anoche",
    "Ayer: de la mañana, de la víspera",
  ]);
});
