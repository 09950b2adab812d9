const mark = "asistente:";

/** The choice of an assistant in the field in which a model is chosen. */
export const ofAssistant = (id: string) => `${mark}${id}`;

/** Receiver of a message, by that field: an assistant, or a plain model; nothing where nothing was chosen. */
export function spokenTo(chosen: string | undefined): { assistantId?: string | null; modelId?: string } {
  if (!chosen) return {};
  return chosen.startsWith(mark) ? { assistantId: chosen.slice(mark.length) } : { modelId: chosen, assistantId: null };
}
