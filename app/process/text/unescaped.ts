/** A text without its percent-encoding; as it is where that is broken. */
export function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
