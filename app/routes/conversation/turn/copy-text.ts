import type { IconName } from "../../../ui/icon.tsx";
import { copyToClipboard } from "../../../ui/input/clipboard.ts";

/** Copies the text that a link leads to; the link then reads «Copiado». */
export async function copyText(link: HTMLAnchorElement): Promise<void> {
  const response = await fetch(link.href);
  if (!response.ok) return location.assign(link.href);
  if (!(await copyToClipboard(await response.text()))) return location.assign(link.href);
  const say = (icon: IconName, word: string) => {
    link.querySelector("use")?.setAttribute("href", `/icons.svg#${icon}`);
    const status = link.querySelector("span");
    if (status) status.textContent = word;
  };
  say("check", "Copiado");
  setTimeout(() => say("copy", "Copiar"), 2000);
}
