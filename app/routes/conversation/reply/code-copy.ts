import { copyToClipboard } from "../../../ui/input/clipboard.ts";

/** Gives each block of code in `container`, now and later, a button that copies it. Returns a function that stops this. */
export function offerCopies(container: HTMLElement | null): (() => void) | undefined {
  if (!container) return;
  const offer = () => {
    for (const code of container.querySelectorAll("figure.code:not(:has(button)) code")) {
      const figure = code.closest("figure");
      const caption =
        figure?.querySelector("figcaption") ??
        figure?.insertBefore(document.createElement("figcaption"), figure.firstChild);
      caption?.append(copyButton(code));
    }
  };
  offer();
  const observer = new MutationObserver(offer);
  observer.observe(container, { childList: true, subtree: true });
  return () => observer.disconnect();
}

function copyButton(code: Element): HTMLButtonElement {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "action ms-auto";
  button.textContent = "Copiar código";
  button.addEventListener("click", async () => {
    button.textContent = (await copyToClipboard(code.textContent.replace(/\n$/, "")))
      ? "Copiado"
      : "No se ha podido copiar";
    setTimeout(() => {
      button.textContent = "Copiar código";
    }, 2000);
  });
  return button;
}
