/** What is wrong with a field by its own constraints, in a sentence; empty: nothing. The browser would say it in its own language. */
export function sentenceFor(field: HTMLInputElement | HTMLTextAreaElement, label: string): string {
  const { validity } = field;
  if (validity.valid) return "";
  if (validity.valueMissing) return `Falta rellenar «${label}».`;
  if (validity.typeMismatch && field.type === "email") {
    return "El correo electrónico no está completo. Escríbelo entero, como nombre@ejemplo.es.";
  }
  if (validity.tooShort) return `«${label}» tiene que tener ${field.minLength} caracteres o más.`;
  return `Revisa «${label}».`;
}
