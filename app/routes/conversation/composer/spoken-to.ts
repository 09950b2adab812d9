const mark = "asistente:";

/** The choice of an assistant in the field in which a model is chosen. */
export const ofAssistant = (id: string) => `${mark}${id}`;

/** Whom a message is for, by that field: an assistant, or a model as such; nothing where nothing was chosen. */
export function spokenTo(chosen: string | undefined): { assistantId?: string | null; modelId?: string } {
  if (!chosen) return {};
  return chosen.startsWith(mark) ? { assistantId: chosen.slice(mark.length) } : { modelId: chosen, assistantId: null };
}
