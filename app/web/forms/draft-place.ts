/** Place of a composer: in a chat, in a project (for its next chat), or, without either, before a new chat. */
export type DraftPlace = { chatId?: string | undefined; projectId?: string | undefined };

/** The page of the composer at a place, which also takes the composer's form. */
export function composerPage({ chatId, projectId }: DraftPlace): string {
  if (chatId) return `/conversation/chat/${encodeURIComponent(chatId)}`;
  return projectId ? `/conversation/project/${encodeURIComponent(projectId)}` : "/conversation/chat";
}
