/** Whether somebody has typed something on this page that is not sent yet. */
export function isWriting(): boolean {
  const fields = document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(
    "textarea, input:not([type=hidden], [type=checkbox], [type=radio])",
  );
  return [...fields].some(({ value, defaultValue }) => value !== defaultValue);
}
