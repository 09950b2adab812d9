/** Title of a thought that has ended. `ms`: how long it took; null if nobody knows. */
export function thoughtWords(ms: number | null): string {
  if (ms === null) return "Razonamiento";
  const seconds = Math.round(ms / 1000);
  if (seconds < 1) return "Razonó menos de 1 s";
  const minutes = Math.floor(seconds / 60);
  return `Razonó ${[minutes > 0 && `${minutes} min`, (seconds % 60 > 0 || minutes === 0) && `${seconds % 60} s`].filter(Boolean).join(" ")}`;
}

/** Title of a thought that grows. */
export const thinking = "Razonando…";

/** The page with all that a model thought for a reply. */
export const reasoningPath = (chatId: string, replyId: string) =>
  `/conversation/chat/${chatId}/razonamiento/${replyId}`;
