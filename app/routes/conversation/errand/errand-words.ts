export const stateWords = {
  planning: "Preparando el plan",
  planned: "El plan espera tu visto bueno",
  running: "En marcha",
  paused: "En pausa",
  stopped: "Parado",
  done: "Hecho",
} as const;

/** A number typed in Spanish; null for an empty field, and one that no bound takes for anything else. */
export function numberTyped(text: string): number | null {
  const plain = text
    .trim()
    .replace(/\.(?=\d{3}(?:\D|$))/g, "")
    .replace(",", ".");
  if (plain === "") return null;
  return /^\d{1,9}(?:\.\d{1,6})?$/.test(plain) ? Number(plain) : -1;
}
