const press = (selector: string) => document.querySelector<HTMLElement>(selector)?.click();

/** The shortcuts that «Ayuda» lists, by the key pressed with Alt and Shift. No browser or screen reader uses these. */
const actions: Record<string, () => void> = {
  KeyB: () => press("#ir-a-buscar"),
  KeyN: () => press('.sidebar a[href="/conversation/chat"]'),
  KeyD: () => press(".stop"),
  KeyC: () => [...document.querySelectorAll<HTMLElement>("figure.code button")].at(-1)?.click(),
};

// While a select's list is open, Enter chooses an option. Browsers without this selector do not pass such keys to the page.
const openList = CSS.supports("selector(:open)") ? ":open" : ":not(*)";

/** Handles shortcuts. Enter on a closed select submits its form, as it does in other fields. */
export function onShortcut(event: KeyboardEvent): void {
  const { target } = event;
  if (event.key === "Enter" && target instanceof HTMLSelectElement && !target.matches(openList)) {
    target.form?.requestSubmit();
  }
  const action = event.altKey && event.shiftKey && !event.ctrlKey && !event.metaKey ? actions[event.code] : undefined;
  if (!action || document.querySelector("dialog:modal")) return;
  event.preventDefault();
  action();
}
