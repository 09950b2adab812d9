/** A number typed in Spanish; null for an empty field; -1, which every bound refuses, for anything else. */
export function numberTyped(text: string): number | null {
  const typed = text.trim();
  // Points separate thousands only if three digits follow each of them.
  const isGrouped = /^[1-9]\d{0,2}(?:\.\d{3}){1,3}(?:,\d{1,6})?$/.test(typed);
  const plain = (isGrouped ? typed.replaceAll(".", "") : typed).replace(",", ".");
  if (plain === "") return null;
  return /^\d{1,9}(?:\.\d{1,6})?$/.test(plain) ? Number(plain) : -1;
}
