import { isComposing } from "../../../ui/input/composing.ts";

type Template = { title: string; content: string };

const shown = 8;

/**
 * Offers templates above an empty composer in which «/» was typed; more letters narrow down the offer. The chosen template replaces
 * the typed text, with its first blank selected.
 */
export async function offerTemplates(field: HTMLTextAreaElement): Promise<void> {
  const box = field.closest(".composer");
  if (!box || document.getElementById("plantillas")) return;
  const answer = await fetch("/conversation/plantillas").catch(() => undefined);
  const templates: Template[] = answer?.ok ? await answer.json() : [];
  if (templates.length === 0 || !field.value.startsWith("/")) return;
  const list = Object.assign(document.createElement("ul"), { id: "plantillas", className: "beginnings" });
  list.setAttribute("aria-label", "Plantillas");
  const close = () => {
    list.remove();
    field.removeEventListener("input", show);
    field.removeEventListener("keydown", onKey);
  };
  const choose = ({ content }: Template) => {
    close();
    field.value = content;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
    const blank = /\{\{[^{}]+\}\}/.exec(content);
    if (blank) field.setSelectionRange(blank.index, blank.index + blank[0].length);
  };
  const found = () => {
    const typed = field.value.slice(1).toLowerCase();
    return templates.filter(({ title }) => title.toLowerCase().includes(typed)).slice(0, shown);
  };
  const show = () => {
    if (!field.value.startsWith("/")) return close();
    const items = found().map((template) => {
      const button = Object.assign(document.createElement("button"), { type: "button", className: "button small" });
      button.textContent = template.title;
      button.addEventListener("click", () => choose(template));
      const item = document.createElement("li");
      item.append(button);
      return item;
    });
    list.replaceChildren(...items);
  };
  const onKey = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    const [first] = found();
    if (event.key === "Escape") close();
    else if (event.key === "Enter" && !event.shiftKey && first) {
      // Enter must not send the text.
      event.preventDefault();
      event.stopPropagation();
      choose(first);
    }
  };
  field.addEventListener("input", show);
  field.addEventListener("keydown", onKey);
  box.before(list);
  show();
}
