/**
 * Copies a text. Pages at a plain http address have no clipboard: there the browser's older command copies what is marked in a
 * field. Answers whether it was copied.
 */
export async function copyToClipboard(text: string): Promise<boolean> {
  if (navigator.clipboard)
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "sr-only";
  // Outside of an open dialog nothing can be marked.
  (document.querySelector("dialog[open]") ?? document.body).append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  return isCopied;
}
