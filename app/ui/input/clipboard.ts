/**
 * Copies a text; `html`: the same for programs that take formatted text, such as Word. Pages at a plain http address have no clipboard:
 * there the browser's older command copies what is marked in a field. Answers whether it was copied.
 */
export async function copyToClipboard(text: string, html = ""): Promise<boolean> {
  // Safari takes no texts here, only blobs.
  const as = (type: string, content: string) => ({ [type]: new Blob([content], { type }) });
  const plainly = () => navigator.clipboard.writeText(text);
  const copied = () =>
    html && "ClipboardItem" in window
      ? navigator.clipboard
          .write([new ClipboardItem({ ...as("text/plain", text), ...as("text/html", html) })])
          .catch(plainly)
      : plainly();
  if (navigator.clipboard)
    return copied().then(
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
