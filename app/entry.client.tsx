import { startTransition } from "react";
import { hydrateRoot } from "react-dom/client";
import { HydratedRouter } from "react-router/dom";
import { keepOffline } from "./ui/navigation/offline.ts";
import { fetchOnIntent } from "./ui/navigation/revisits.tsx";
import { onShortcut } from "./ui/navigation/shortcuts.ts";
import { keepViewport } from "./ui/navigation/viewport.ts";
import { closePopover } from "./ui/overlays/close-popover.ts";
import { keepTimeZone } from "./ui/time-zone.ts";

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
  if ((event.reason as Error | undefined)?.name === "AbortError") event.preventDefault();
});

if (import.meta.env.PROD) keepOffline();

startTransition(() => {
  hydrateRoot(document, <HydratedRouter />);
});
