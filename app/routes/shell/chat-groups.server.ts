export type ListedChat = { id: string; title: string; pinned: boolean };

/** The name of a group and its chats. */
export type ChatGroup = [name: string, chats: ListedChat[]];

const day = 24 * 60 * 60 * 1000;

/**
 * Chats in the order they came, under «Fijados» or how long ago they were last used by the clock of `zone`. It is the
 * server that says so: at night, a browser elsewhere would find other words than those of the page it was sent.
 */
export function groupChats(chats: (ListedChat & { lastMessageAt: string })[], now: number, zone: string): ChatGroup[] {
  const midnight = midnightIn(zone, now);
  const groups = new Map<string, ListedChat[]>();
  for (const { id, title, pinned, lastMessageAt } of chats) {
    const name = pinned ? "Fijados" : groupOf(Date.parse(lastMessageAt), midnight);
    groups.set(name, [...(groups.get(name) ?? []), { id, title, pinned }]);
  }
  return [...groups];
}

function groupOf(time: number, midnight: number): string {
  if (time >= midnight) return "Hoy";
  if (time >= midnight - day) return "Ayer";
  if (time >= midnight - 6 * day) return "Esta semana";
  if (time >= midnight - 29 * day) return "Este mes";
  return "Antes";
}

// Making one takes a quarter of a millisecond, and every page needs one. People of one installation live in few zones.
const clocks = new Map<string, Intl.DateTimeFormat>();
const keptClocks = 50;

/** When the day of `now` began in a time zone that exists; on the day of a change of clocks, an hour beside it. */
function midnightIn(zone: string, now: number): number {
  const clock =
    clocks.get(zone) ?? new Intl.DateTimeFormat("sv", { timeZone: zone, dateStyle: "short", timeStyle: "medium" });
  if (clocks.size >= keptClocks) clocks.clear();
  clocks.set(zone, clock);
  // In Swedish it is written as ISO 8601 has it but for a space: 2026-11-25 09:24:46.
  const local = Date.parse(`${clock.format(now).replace(" ", "T")}Z`);
  return now - (local % day) - (now % 1000);
}
