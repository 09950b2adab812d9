export type ListedChat = { id: string; title: string; pinned: boolean };

/** The name of a group and its chats. */
export type ChatGroup = [name: string, chats: ListedChat[]];

const day = 24 * 60 * 60 * 1000;

/**
 * Chats in the order they came, grouped under «Fijados» or by how long ago they were last used, by the clock of `zone`. The server makes
 * the groups: at night, a browser in another zone would make others than the page that it was sent.
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

// Making a formatter takes a quarter of a millisecond, and every page needs one. People of one installation live in few zones.
const clocks = new Map<string, Intl.DateTimeFormat>();
const keptClocks = 50;

/** The time at which the day of `now` began in a time zone that exists; on a day when the clocks change, it may be an hour off. */
function midnightIn(zone: string, now: number): number {
  const clock =
    clocks.get(zone) ?? new Intl.DateTimeFormat("sv", { timeZone: zone, dateStyle: "short", timeStyle: "medium" });
  if (clocks.size >= keptClocks) clocks.clear();
  clocks.set(zone, clock);
  // Swedish writes a time as ISO 8601 does, except for a space: 2026-11-25 09:24:46.
  const local = Date.parse(`${clock.format(now).replace(" ", "T")}Z`);
  return now - (local % day) - (now % 1000);
}
