export type ListedChat = { id: string; title: string; pinned: boolean; lastMessageAt: string };

const day = 24 * 60 * 60 * 1000;

/** Chats in the order they came, under «Fijados» or how long ago they were last used. */
export function groupChats(chats: ListedChat[], now: Date): [string, ListedChat[]][] {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const groups = new Map<string, ListedChat[]>();
  for (const chat of chats) {
    const group = chat.pinned ? "Fijados" : groupOf(Date.parse(chat.lastMessageAt), midnight);
    groups.set(group, [...(groups.get(group) ?? []), chat]);
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
