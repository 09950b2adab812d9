/**
 * The shortcuts that «Ayuda» lists: by the key with Alt and Shift, the selector of the element to press (the last one on the page). No
 * browser or screen reader uses these keys.
 */
const pressed: Record<string, string> = {
  KeyB: "#ir-a-buscar",
  KeyN: '.sidebar a[href="/conversation/chat"]',
  KeyD: ".stop",
  KeyC: "figure.code button",
};

// While a select's list is open, Enter chooses an option. Browsers without this selector do not pass such keys to the page.
const openList = CSS.supports("selector(:open)") ? ":open" : ":not(*)";

/** Handles shortcuts. Enter on a closed select submits its form, as it does in other fields. */
export function onShortcut(event: KeyboardEvent): void {
  const { target } = event;
  if (event.key === "Enter" && target instanceof HTMLSelectElement && !target.matches(openList)) {
    target.form?.requestSubmit();
  }
  const selector = event.altKey && event.shiftKey && !event.ctrlKey && !event.metaKey && pressed[event.code];
  if (!selector || document.querySelector("dialog:modal")) return;
  event.preventDefault();
  [...document.querySelectorAll<HTMLElement>(selector)].at(-1)?.click();
}
