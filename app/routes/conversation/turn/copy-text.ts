import type { IconName } from "../../../ui/icon.tsx";
import { copyToClipboard } from "../../../ui/input/clipboard.ts";

/** Copies the text that a link leads to, and how its turn shows it; the link then reads «Copiado». */
export async function copyText(link: HTMLAnchorElement): Promise<void> {
  const response = await fetch(link.href);
  if (!response.ok) return location.assign(link.href);
  if (!(await copyToClipboard(await response.text(), shownAbove(link)))) return location.assign(link.href);
  const say = (icon: IconName, word: string) => {
    link.querySelector("use")?.setAttribute("href", `/icons.svg#${icon}`);
    const status = link.querySelector("span");
    if (status) status.textContent = word;
  };
  say("check", "Copiado");
  setTimeout(() => say("copy", "Copiar"), 2000);
}

/** The texts of the turn of a link as HTML, without thoughts and buttons. */
function shownAbove(link: Element): string {
  const texts = [...(link.closest("article")?.querySelectorAll(".prose") ?? [])].filter(
    (text) => !text.closest("details"),
  );
  return texts
    .map((text) => {
      const copy = document.importNode(text, true);
      for (const button of copy.querySelectorAll("button")) button.remove();
      return copy.innerHTML;
    })
    .join("");
}
