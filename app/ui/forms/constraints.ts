/**
 * The Spanish sentence for a field's violated HTML constraint, or an empty string. The browser's own message would be in
 * its language.
 */
export function sentenceFor(field: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement, label: string): string {
  const { validity } = field;
  if (validity.valid) return beyondLimits(field, label);
  if (validity.valueMissing) return `Falta rellenar «${label}».`;
  if (validity.typeMismatch && field.type === "email") {
    return "El correo electrónico no está completo. Escríbelo entero, como nombre@ejemplo.es.";
  }
  if (validity.typeMismatch && field.type === "url")
    return `«${label}» tiene que ser una dirección, como https://ejemplo.es.`;
  if (validity.patternMismatch && field.inputMode === "decimal") return `«${label}» tiene que ser un número.`;
  if (validity.tooShort && "minLength" in field)
    return `«${label}» tiene que tener ${field.minLength} caracteres o más.`;
  return `Revisa «${label}».`;
}

/** Numbers are texts, since browsers take a comma or a point for decimals by their own language. */
function beyondLimits({ value, dataset: { min, max } }: HTMLElement & { value: string }, label: string): string {
  const number = Number(value.replace(",", "."));
  if (value === "" || Number.isNaN(number)) return "";
  if (min !== undefined && number < Number(min)) return `«${label}» tiene que ser ${min} o más.`;
  return max !== undefined && number > Number(max) ? `«${label}» tiene que ser ${max} o menos.` : "";
}
