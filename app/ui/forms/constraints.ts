/**
 * The Spanish sentence for a field's violated HTML constraint, or an empty string. The browser's own message would be in
 * its language.
 */
export function sentenceFor(field: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement, label: string): string {
  const { validity } = field;
  if (validity.valid) return "";
  if (validity.valueMissing) return `Falta rellenar «${label}».`;
  if (validity.typeMismatch && field.type === "email") {
    return "El correo electrónico no está completo. Escríbelo entero, como nombre@ejemplo.es.";
  }
  if (validity.tooShort && "minLength" in field)
    return `«${label}» tiene que tener ${field.minLength} caracteres o más.`;
  return `Revisa «${label}».`;
}
