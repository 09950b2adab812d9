/** A field of a call's input as text. Models also send numbers, and lists of lines or words; anything else is no text. */
export function fieldText(field: unknown): string {
  if (Array.isArray(field)) return field.map(fieldText).join("\n");
  return typeof field === "string" || typeof field === "number" ? String(field) : "";
}
