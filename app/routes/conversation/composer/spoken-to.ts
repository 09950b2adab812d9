const mark = "asistente:";

/** The value that stands for an assistant in the field for the model. */
export const ofAssistant = (id: string) => `${mark}${id}`;

/** Receiver of a message, by the field for the model: an assistant, or a plain model; empty if nothing was chosen. */
export function spokenTo(chosen: string | undefined): { assistantId?: string | null; modelId?: string } {
  if (!chosen) return {};
  return chosen.startsWith(mark) ? { assistantId: chosen.slice(mark.length) } : { modelId: chosen, assistantId: null };
}
