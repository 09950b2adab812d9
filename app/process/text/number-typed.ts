/** A number typed in Spanish; null for an empty field, and one that no bound takes for anything else. */
export function numberTyped(text: string): number | null {
  const typed = text.trim();
  // Points group thousands only where that is how they stand.
  const isGrouped = /^[1-9]\d{0,2}(?:\.\d{3}){1,3}(?:,\d{1,6})?$/.test(typed);
  const plain = (isGrouped ? typed.replaceAll(".", "") : typed).replace(",", ".");
  if (plain === "") return null;
  return /^\d{1,9}(?:\.\d{1,6})?$/.test(plain) ? Number(plain) : -1;
}
