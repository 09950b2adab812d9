import { closePopover } from "../overlays/close-popover.ts";
import { keepOffline } from "./offline.ts";
import { fetchOnIntent } from "./revisits.tsx";
import { onShortcut } from "./shortcuts.ts";
import { keepTimeZone } from "./time-zone.ts";
import { keepViewport } from "./viewport.ts";

/** Setup of the browser on every page with script; once, before rendering. */
export function start(): void {
  // The colour mode for programs that read this key; the page itself is always dark.
  localStorage.setItem("nuxt-color-mode", "dark");

  keepViewport();
  keepTimeZone();

  document.addEventListener("click", closePopover);
  document.addEventListener("keydown", onShortcut);
  for (const intent of ["pointerover", "focusin", "touchstart"]) {
    document.addEventListener(intent, fetchOnIntent, { passive: true });
  }

  // Requests that the router aborts itself are not errors.
  addEventListener("unhandledrejection", (event) => {
    if (event.reason?.name === "AbortError") event.preventDefault();
  });

  if (import.meta.env.PROD) keepOffline();
}
