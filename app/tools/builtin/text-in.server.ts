/** A field of a call's input as text. Models also send numbers, and lists of lines or words; anything else is no text. */
export function textIn(field: unknown): string {
  if (Array.isArray(field)) return field.map(textIn).join("\n");
  return typeof field === "string" || typeof field === "number" ? String(field) : "";
}
