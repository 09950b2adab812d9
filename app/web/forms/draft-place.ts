/** Place of a composer: in a chat, in a project (for its next chat), or, without either, before a new chat. */
export type DraftPlace = { chatId?: string | undefined; projectId?: string | undefined };

/** The page of that composer, which also takes its form. */
export function composerPage({ chatId, projectId }: DraftPlace): string {
  if (chatId) return `/conversation/chat/${encodeURIComponent(chatId)}`;
  return projectId ? `/conversation/project/${encodeURIComponent(projectId)}` : "/conversation/chat";
}
